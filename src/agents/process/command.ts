import type { Agent } from "../../ports/agent.ts";
import { createLauncher, type LaunchOptions } from "./launch.ts";
import { failureOfExit } from "./reasons.ts";

export interface CommandAgentOptions extends LaunchOptions {
  /** A line for `sh -c`, typed by the person, never from a model or a repository. */
  readonly command: string;
  readonly projectDir: string;
}

/** Any command as an agent: prompt on stdin, answer on stdout. Exit 75 means an outage, 77 means no access. */
export function createCommandAgent({ command, projectDir, ...options }: CommandAgentOptions): Agent {
  const launcher = createLauncher({
    ...options,
    projectDir,
    argv: () => [options.shell ?? "/bin/sh", "-c", command],
    format: "text",
    readEnd(finished) {
      const result = { answer: finished.answer, usage: null, conversation: null, activity: null };
      if (finished.exitCode === 0) return { kind: "ok", ...result };
      return { kind: "failed", failure: failureOfExit(finished), ...result };
    },
    openLines: () => (text) => [{ type: "text", text }],
  });
  return { name: "command", ...launcher };
}
