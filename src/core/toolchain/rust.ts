/** Rust. */
import { type Ecosystem, propose, type ToolReading } from "./tool.ts";

const TESTS: ToolReading = { words: "subjects", roles: ["tests:rust", "tests:any", "config:rust"] };
const CARGO = /^Cargo\.toml$/;
const PANIC =
  /^thread '(?<name>.+?)' (?:\(\d+\) )?panicked at (?:'(?<message>.*)', )?(?<file>\S+?):\d+:\d+:?$/gm;
const COMPILER =
  /^(?<message>error(?:\[E\d+\])?: (?!could not compile|aborting).*)\n[ \t]+--> (?<name>\S+?):\d+/gm;

export const RUST: Ecosystem = {
  tools: [
    {
      name: "nextest",
      programs: ["cargo nextest"],
      reads: TESTS,
      phrases: ["cargo nextest run"],
      tests: {
        when: /^nextest r(?:un)?\b/,
        idle: ["-h", "--no-run"],
        output: {
          summary: /^[ \t]*Summary \[.*?\] +.*tests? run: .*$/gm,
          failures: [
            PANIC,
            /^[ \t]*(?:FAIL|TIMEOUT|SIG\w+|ABORT) \[.*?\] (?:\([\s\d/]+\) )?(?<name>\S.*)$/gm,
          ],
        },
      },
    },
    {
      name: "cargo",
      programs: ["cargo test", "cargo t"],
      reads: TESTS,
      phrases: ["cargo test"],
      commands: [{ topic: "test", command: "cargo test", signs: [CARGO] }],
      tests: {
        idle: ["-h", "--no-run"],
        output: {
          summary: /^test result: \w+\. \d+ passed; \d+ failed;.*$/gm,
          failures: [PANIC, /^test (?<name>\S+) \.\.\. FAILED$/gm, COMPILER],
          broken: /^error: could not compile `/gm,
        },
        report: {
          format: "lines",
          words: [],
          place: "end",
          line: /^test (?<name>\S+)(?: - should panic)? \.\.\. (?<result>ok|FAILED|ignored)\b/gm,
        },
        canary: {
          file: "tests/loop_canary.rs",
          text: "#[test]\nfn {name}() {\n    assert_eq!(1, 2);\n}\n",
          reported: "{name}",
        },
      },
    },
    {
      name: "another runner of Rust",
      programs: ["cargo tarpaulin", "cargo llvm-cov", "cargo insta", "cargo miri"],
      reads: TESTS,
    },
    {
      name: "cargo",
      programs: ["cargo", "rustc", "rustfmt"],
      reads: { words: "subjects", roles: ["config:rust"] },
      phrases: ["cargo (?:build|check|clippy|fmt --check)"],
      commands: [
        { topic: "build", command: "cargo build", signs: [CARGO] },
        { topic: "format", command: "cargo fmt --check", signs: [CARGO] },
        propose("types", "cargo check", [CARGO]),
      ],
    },
    {
      name: "clippy",
      programs: [],
      commands: [{ topic: "lint", command: "cargo clippy -- -D warnings", signs: [CARGO] }],
    },
  ],
  files: [
    ["tests:rust", /^tests?\.rs$|_tests?\.rs$|\.snap$/],
    [
      "config:rust",
      /^(?:Cargo\.(?:toml|lock)|rust-toolchain(?:\.toml)?|build\.rs|\.?clippy\.toml|\.?rustfmt\.toml|nextest\.toml|deny\.toml)$/,
    ],
  ],
  paths: [["config:rust", /(?:^|\/)\.cargo\/|(?:^|\/)\.config\/nextest\.toml$/]],
  foldersBeside: [["target", /^Cargo\.toml$/]],
};
