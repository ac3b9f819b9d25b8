import type { Agent } from "../../ports/agent.ts";
import { createLauncher, type LaunchOptions } from "./launch.ts";
import { failureOfExit } from "./reasons.ts";

export interface CommandAgentOptions extends LaunchOptions {
  /** A line for `sh -c`, from the person, never from a model or a repository. */
  readonly command: string;
  readonly projectDir: string;
}

/**
 * Any command line as an agent: the prompt is its stdin, its stdout the answer, an exit code but 0 a failure. A
 * wrapper that knows better says so by its exit code: 75, the service is out; 77, it may not use it.
 */
export function createCommandAgent({ command, projectDir, ...options }: CommandAgentOptions): Agent {
  const launcher = createLauncher({
    ...options,
    projectDir,
    argv: () => [options.shell ?? "/bin/sh", "-c", command],
    readEnd(finished) {
      const result = { answer: finished.answer, usage: null, conversation: null, activity: null };
      if (finished.exitCode === 0) return { kind: "ok", ...result };
      return { kind: "failed", failure: failureOfExit(finished), ...result };
    },
    readLine: (text) => [{ type: "text", text }],
  });
  return { name: "command", ...launcher };
}
