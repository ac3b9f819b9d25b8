import type { Agent } from "../ports.ts";
import { createLauncher, type LaunchOptions } from "./launch.ts";
import { describeExit } from "./reasons.ts";

export interface CommandAgentOptions extends LaunchOptions {
  /** A line for `sh -c`, from the person, never from a model or a repository. */
  readonly command: string;
  readonly projectDir: string;
}

/** Any command line as an agent: the prompt is its stdin, its stdout the answer, an exit code but 0 a failure. */
export function createCommandAgent({ command, projectDir, ...options }: CommandAgentOptions): Agent {
  const launcher = createLauncher({
    ...options,
    projectDir,
    argv: [options.shell ?? "/bin/sh", "-c", command],
    readEnd: (finished) =>
      finished.exitCode === 0
        ? { kind: "ok", answer: finished.answer, usage: null }
        : { kind: "failed", reason: describeExit(finished), answer: finished.answer, usage: null },
  });
  return { name: "command", ...launcher };
}
