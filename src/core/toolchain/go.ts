/** Go. */
import { type Ecosystem, propose } from "./tool.ts";

const MODULE = /^go\.mod$/;

export const GO: Ecosystem = {
  tools: [
    {
      name: "go",
      programs: ["go test", "gotestsum", "ginkgo"],
      reads: { words: "subjects", roles: ["tests:go", "tests:any", "config:go"] },
      phrases: ["go test"],
      commands: [{ topic: "test", command: "go test ./...", signs: [MODULE] }],
      tests: {
        idle: ["-h", "-list", "-c", "-n"],
        output: {
          // Any program may print a bare `PASS`.
          summary:
            /^(?:ok|FAIL|\?)[ \t]+\S+[ \t]+(?:[\d.]+s|\(cached\)|\[.+\]|coverage:.*)|^[ \t]*(?:=== RUN |--- (?:PASS|FAIL): ).*$/gm,
          failures: [
            // Only the innermost of nested failures.
            /^[ \t]*--- FAIL: (?<name>\S+) \(.*\)$(?!\n[ \t]+--- FAIL: )(?:\n[ \t]+\S+\.go:\d+: .*)?/gm,
            /^FAIL[ \t]+(?<name>\S+) \[(?<message>(?:build|setup) failed)\]$/gm,
            /^FAIL[ \t]+(?<name>\S+)[ \t]+[\d.]+s$/gm,
          ],
          around:
            /^(?:[ \t]+(?<file>\S+_test\.go):\d+: |(?=\S+\.go:\d+(?::\d+)?: |(?:panic|fatal error): ))(?<message>.*)$/gm,
          passes: /^[ \t]*--- PASS: /gm,
          broken: /^FAIL[ \t]+\S+ \[(?:build|setup) failed\]$/gm,
        },
        report: { format: "test2json", words: ["-json"], place: "start" },
        canary: {
          file: "loop_canary_test.go",
          text: 'package {package}\n\nimport (\n\t"testing"\n)\n\nfunc Test_{name}(t *testing.T) {\n\tt.Fatal("this test must fail")\n}\n',
          reported: "Test_{name}",
        },
      },
    },
    {
      name: "go",
      programs: ["go", "staticcheck", "gofmt", "govulncheck"],
      reads: { words: "subjects", roles: ["config:go"] },
      phrases: ["go (?:build|vet)"],
      commands: [
        { topic: "build", command: "go build ./...", signs: [MODULE] },
        propose("types", "go build ./...", [MODULE]),
      ],
    },
    {
      name: "vet",
      programs: [],
      commands: [propose("lint", "go vet ./...", [MODULE], { instead: ["golangci-lint"] })],
    },
    {
      name: "golangci-lint",
      programs: ["golangci-lint"],
      reads: { words: "subjects", roles: ["config:go"] },
      files: [["config:go", /^\.golangci\.(?:ya?ml|toml|json)$/]],
      phrases: ["golangci-lint run"],
      commands: [
        { topic: "lint", command: "golangci-lint run", signs: [/^\.golangci\.(?:ya?ml|toml|json)$/] },
      ],
    },
  ],
  files: [
    ["tests:go", /_test\.go$/],
    ["config:go", /^go\.(?:mod|sum|work|work\.sum)$/],
  ],
  foldersBeside: [["vendor", MODULE]],
};
