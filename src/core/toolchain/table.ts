/** The table of all tools, and how to find a tool in it. */
import { skipFlags } from "../shell/words.ts";
import { GO } from "./go.ts";
import { JAVASCRIPT } from "./javascript.ts";
import { JVM } from "./jvm.ts";
import { NATIVE } from "./native.ts";
import { OTHERS } from "./others.ts";
import { PYTHON } from "./python.ts";
import { RUST } from "./rust.ts";
import type { Ecosystem, TestOutput, Tool } from "./tool.ts";

export const ECOSYSTEMS: readonly Ecosystem[] = [JAVASCRIPT, RUST, GO, PYTHON, JVM, OTHERS, NATIVE];
export const TOOLS: readonly Tool[] = ECOSYSTEMS.flatMap(({ tools }) => tools);

const BY_PROGRAM = new Map(TOOLS.flatMap((tool) => tool.programs.map((name) => [name, tool] as const)));

/** Found by its name and the next word: `cargo test` is not `cargo build`. */
export function toolOf(program: string, words: readonly string[]): Tool | undefined {
  const [subcommand] = skipFlags(
    words.filter((word) => !word.startsWith("+")),
    ["-C"],
  );
  return BY_PROGRAM.get(`${program} ${subcommand}`) ?? BY_PROGRAM.get(program);
}

/** Tools with their own summary, in the order in which an output is matched. */
export const TEST_OUTPUTS: readonly (readonly [string, TestOutput])[] = TOOLS.flatMap(({ name, tests }) =>
  tests?.output === undefined ? [] : [[name, tests.output] as const],
);

export function isPackageManager(program: string): boolean {
  return BY_PROGRAM.get(program)?.locks !== undefined;
}
