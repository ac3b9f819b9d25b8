/** A real terminal: tmux with a server of its own, in the test's own folder. Guard with `hasTmux`. */
import { execFileSync, spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { cleanEnv, leftovers } from "./cli.ts";
import { until } from "./until.ts";

export const hasTmux = spawnSync("tmux", ["-V"]).status === 0;

export interface Terminal {
  /** Types a command line and Enter. */
  run(line: string): void;
  /** Keys by tmux's names: "y", "Enter", "C-c". */
  keys(...keys: string[]): void;
  resize(columns: number, rows: number): void;
  screen(): string;
  /** Prompts hide it; whoever hides it must show it again. */
  cursorIsShown(): boolean;
  /** As if its window was closed. */
  close(): void;
  /** Waits until the screen matches; returns it. */
  sees(pattern: RegExp, withinMs?: number): Promise<string>;
}

export function openTerminal(project: string, columns = 100, rows = 30): Terminal {
  const socket = join(dirname(project), "tmux");
  const env = cleanEnv(project, { TERM: "xterm-256color", LANG: "C.UTF-8", PS1: "$ ", SHELL: "/bin/sh" });
  const tmux = (...args: string[]) =>
    execFileSync("tmux", ["-f", "/dev/null", "-S", socket, ...args], { cwd: project, env, encoding: "utf8" });
  tmux("new-session", "-d", "-x", String(columns), "-y", String(rows), "-s", "t", "/bin/sh");
  onTestFinished(async () => {
    spawnSync("tmux", ["-S", socket, "kill-server"]);
    await until(() => leftovers(project).length === 0, "all that ran in the terminal is gone", 5_000);
  });
  const screen = () => tmux("capture-pane", "-p", "-t", "t").trimEnd();
  return {
    run: (line) => {
      tmux("send-keys", "-t", "t", "-l", line);
      tmux("send-keys", "-t", "t", "Enter");
    },
    keys: (...keys) => {
      tmux("send-keys", "-t", "t", ...keys);
    },
    resize: (width, height) => {
      tmux("resize-window", "-t", "t", "-x", String(width), "-y", String(height));
    },
    screen,
    cursorIsShown: () => tmux("display-message", "-p", "-t", "t", "#{cursor_flag}").trim() === "1",
    close: () => {
      tmux("kill-server");
    },
    async sees(pattern, withinMs) {
      let last = "";
      const seen = async () => {
        last = screen();
        return pattern.test(last) ? last : null;
      };
      try {
        return await until(seen, `the screen has ${pattern}`, withinMs);
      } catch (error) {
        throw new Error(`${(error as Error).message}; it was:\n${last}`);
      }
    },
  };
}
