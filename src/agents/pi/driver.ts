/**
 * Runs between the launcher and `pi --mode rpc`, and prints one event per line. Needed because pi does not end by
 * itself, repeats the whole message with every piece, and waits for ever for answers to extensions.
 */

/** Runs with `node -e`, so that it works from any bundle. `argv`: pi and its arguments. */
export function driverArgv(argv: readonly string[]): readonly [string, ...string[]] {
  return [process.execPath, "-e", `(${drivePi})(process,require)`, "--", ...argv];
}

interface PiLine {
  readonly type?: string;
  readonly id?: string;
  readonly method?: string;
  readonly success?: boolean;
  readonly willRetry?: boolean;
  readonly message?: { readonly role?: string };
  readonly data?: { readonly isStreaming?: boolean; readonly isCompacting?: boolean };
}

/** Its source text runs in another process: it may only use its arguments and globals. So it is one long function. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: its text is what `node -e` runs
function drivePi(self: NodeJS.Process, load: NodeJS.Require): void {
  const { spawn } = load("node:child_process") as typeof import("node:child_process");
  const { readFileSync } = load("node:fs") as typeof import("node:fs");
  const { constants } = load("node:os") as typeof import("node:os");
  const QUIET_MS = 150;
  const EXIT_MS = 3_000;
  const SHOWN =
    /^(agent_|auto_retry_|compaction_|message_end|tool_execution_(start|end)|extension_|response)/;
  const prompt = readFileSync(0, "utf8");
  const [program = "", ...rest] = self.argv.slice(1);
  const pi = spawn(program, rest, { stdio: ["pipe", "pipe", "inherit"] });
  let code = 0;
  let state: "busy" | "idle" | "ending" = "busy";
  /** From 0.87 on, pi reports itself when all is done. */
  let saysWhenSettled = false;
  let quiet: NodeJS.Timeout | undefined;

  const send = (command: object) => void pi.stdin.write(`${JSON.stringify(command)}\n`);
  const end = (exitCode: number) => {
    if (state === "ending") return;
    state = "ending";
    clearTimeout(quiet);
    code = exitCode;
    send({ id: "stats", type: "get_session_stats" });
    setTimeout(() => pi.kill("SIGKILL"), EXIT_MS).unref();
  };
  /** pi may retry or compact its context. Then an event follows soon. */
  const mayBeOver = () => {
    if (state === "ending") return;
    state = "idle";
    clearTimeout(quiet);
    if (!saysWhenSettled) quiet = setTimeout(() => send({ id: "state", type: "get_state" }), QUIET_MS);
  };
  const goesOn = () => {
    clearTimeout(quiet);
    if (state === "idle") state = "busy";
  };

  const follow = (line: PiLine) => {
    switch (line.type) {
      case "agent_start":
      case "auto_retry_start":
      case "compaction_start":
        return goesOn();
      case "agent_end":
        saysWhenSettled = line.willRetry !== undefined;
        return mayBeOver();
      case "agent_settled":
        return end(0);
      case "auto_retry_end":
        return line.success === false ? mayBeOver() : undefined;
      case "compaction_end":
        return line.willRetry ? goesOn() : state === "idle" ? mayBeOver() : undefined;
      case "extension_ui_request":
        return ["select", "confirm", "input", "editor"].includes(line.method ?? "")
          ? send({ type: "extension_ui_response", id: line.id, cancelled: true })
          : undefined;
      case "response":
        return answered(line);
    }
  };
  const answered = ({ id, success, data }: PiLine) => {
    if (id === "prompt" && success === false) return end(1);
    // a command of an extension is not a turn: no event follows
    if (id === "prompt" && prompt.startsWith("/") && state === "busy") return mayBeOver();
    if (id === "state" && state === "idle")
      return data?.isStreaming || data?.isCompacting ? goesOn() : end(0);
    if (id === "stats") return void pi.stdin.end();
  };

  const show = (text: string) => {
    // frequent and long
    if (text.startsWith('{"type":"message_update"')) return;
    let line: PiLine;
    try {
      line = JSON.parse(text) as PiLine;
    } catch {
      return;
    }
    if (SHOWN.test(line.type ?? "") && (line.type !== "message_end" || line.message?.role === "assistant")) {
      // `messages` repeats all messages; `result` is a tool's output
      const told = { ...line, messages: undefined, result: undefined };
      self.stdout.write(`${JSON.stringify(told)}\n`);
    }
    follow(line);
  };

  let half: Buffer[] = [];
  pi.stdout.on("data", (bytes: Buffer) => {
    let from = 0;
    for (let to = bytes.indexOf(10); to !== -1; to = bytes.indexOf(10, from)) {
      show(Buffer.concat([...half, bytes.subarray(from, to)]).toString("utf8"));
      half = [];
      from = to + 1;
    }
    if (from < bytes.length) half.push(bytes.subarray(from));
  });
  pi.stdin.on("error", () => {});
  pi.once("error", () => self.exit(127));
  pi.once("close", (exitCode, signal) => {
    const own = signal === null ? (exitCode ?? 1) : 128 + constants.signals[signal];
    self.exitCode = state === "ending" ? code : own || 1;
  });
  send({ id: "begin", type: "get_state" });
  send({ id: "prompt", type: "prompt", message: prompt });
}
