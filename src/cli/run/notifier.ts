/** Notifies the person on the screen and through their own command, which never delays the runner. */
import { spawn } from "node:child_process";
import { Socket } from "node:net";
import { cleanText } from "../../core/text/clean.ts";
import type { Notifier } from "../../ports/notifier.ts";
import { currentMask } from "../../system/secrets.ts";
import type { LiveView } from "../live/view.ts";
import { oneLine } from "../render/table.ts";

const MAX_SAID = 500;

export function createNotifier(
  command: string | undefined,
  view: Pick<LiveView, "notify" | "problem">,
): Notifier {
  return {
    notify(title, body) {
      view.notify(title, body);
      if (command === undefined) return;
      try {
        runCommand(command, oneLine(title), cleanText(body), view);
      } catch (error) {
        // spawn throws if the text is too long or no process can start
        view.problem(error);
      }
    },
  };
}

function runCommand(
  command: string,
  title: string,
  body: string,
  view: Pick<LiveView, "notify" | "problem">,
): void {
  const child = spawn("/bin/sh", ["-c", command], {
    stdio: ["pipe", "ignore", "pipe"],
    env: { ...process.env, LOOP_TITLE: title, LOOP_BODY: body },
  });
  // without free file descriptors the child has no streams, whatever the types say
  const { stdin, stderr }: { stdin?: typeof child.stdin; stderr?: typeof child.stderr } = child;
  let said = "";
  stderr?.on("data", (bytes: Buffer) => {
    said = `${said}${bytes}`.slice(-MAX_SAID);
  });
  child.on("error", (error) => view.problem(error));
  child.on("close", (code, signal) => {
    const how = code === null ? `by ${signal}` : `with exit ${code}`;
    // without a pid it never ran, and `error` was reported
    if (code !== 0 && child.pid !== undefined)
      view.problem(new Error(`--notify-cmd ended ${how}. ${currentMask().text(said)}`));
  });
  stdin?.on("error", () => {});
  stdin?.end(`${title}\n${body}\n`);
  child.unref();
  if (stderr instanceof Socket) stderr.unref();
}
