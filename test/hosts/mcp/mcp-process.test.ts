/** H3 H4 a token counts only from the process tree of its turn, where the system can tell: real processes. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { listenMcp } from "../../../src/hosts/mcp/http.ts";
import { clientOf, ping } from "../../support/mcp-client.ts";
import { until } from "../../support/until.ts";

/**
 * Says the status that a call gets. `close`: sends it and closes at once, without waiting for the answer. `late`: first
 * waits for a file.
 */
const CLIENT = `
const { connect } = require("node:net");
const { appendFileSync, existsSync } = require("node:fs");
const [port, auth, file, how] = process.argv.slice(2);
const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "mark" } });
function call() {
const socket = connect(Number(port), "127.0.0.1");
socket.on("error", () => {});
const text = ["POST /mcp HTTP/1.1", "Host: 127.0.0.1:" + port, "Authorization: " + auth, "Content-Type: application/json",
  "Content-Length: " + body.length, "", body].join("\\r\\n");
if (how === "close") socket.write(text, () => { socket.destroy(); appendFileSync(file, "closed\\n"); });
else {
  socket.write(text);
  socket.once("data", (bytes) => { appendFileSync(file, String(bytes).slice(9, 12) + "\\n"); socket.destroy(); });
}
}
const look = setInterval(() => {
  if (how === "late" && !existsSync(file + ".go")) return;
  clearInterval(look);
  call();
}, 5);
`;

async function start() {
  const folder = mkdtempSync(join(tmpdir(), "loop token "));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [script, said] = [join(folder, "client.cjs"), join(folder, "said")];
  writeFileSync(script, CLIENT);
  writeFileSync(said, "");
  let marks = 0;
  const http = await listenMcp();
  onTestFinished(() => http.close());
  const mark = {
    ...{ name: "mark", description: "marks", schema: z.looseObject({}) },
    run: async () => ({ text: String(++marks) }),
  };
  const guest = http.admit(() => ({ name: "x", version: "1", tools: [mark] }));
  const port = new URL(http.url).port;
  /** A shell that leads a session, like the wrapper of a turn. `$CALL` makes a call. It waits for a line first. */
  const startTurn = (line: string, how = "") => {
    const words = [process.execPath, script, port, guest.headers.Authorization ?? "", said, how];
    const CALL = words.map((word) => `'${word}'`).join(" ");
    const child = spawn(
      "/bin/sh",
      ["-c", `read go; ${line.replaceAll("$CALL", CALL).replaceAll("$SAID", `'${said}'`)}`],
      {
        ...{ detached: true, stdio: ["pipe", "ignore", "inherit"] },
      },
    );
    onTestFinished(() => void (child.exitCode === null && child.kill("SIGKILL")));
    return { child, ref: { pid: child.pid ?? 0, start: null } };
  };
  const go = ({ child }: { child: ChildProcess }) => child.stdin?.write("go\n");
  const heard = () => until(() => readFileSync(said, "utf8").trim() || null, "the call was made");
  return { http, guest, startTurn, go, heard, marks: () => marks };
}

describe.runIf(process.platform === "linux")("a token that is bound to a process", () => {
  test.each<[string, string, string?]>([
    ["itself", "exec $CALL"],
    ["a process that it started", "$CALL; true"],
    ["one that was started deep below", 'sh -c "sh -c \\"$CALL; true\\"; true"; true'],
    ["one whose parents ended, in its session", "( $CALL & ); touch $SAID.go; read more", "late"],
    ["one in a session of its own, below it", "setsid $CALL & wait"],
  ])("counts from %s", async (_, line, how = "") => {
    const { guest, startTurn, go, heard, marks } = await start();
    const turn = startTurn(line, how);
    guest.bind(turn.ref);
    go(turn);
    expect([await heard(), marks()]).toEqual(["200", 1]);
  });

  test("does not count from another turn", async () => {
    const { guest, startTurn, go, heard, marks } = await start();
    const [turn, thief] = [startTurn("read more"), startTurn("$CALL; true")];
    guest.bind(turn.ref);
    go(thief);
    expect([await heard(), marks()]).toEqual(["403", 0]);
  });

  test("does not count from a process that left the tree and the session of its turn", async () => {
    const { guest, startTurn, go, heard, marks } = await start();
    const turn = startTurn("( setsid $CALL & ); touch $SAID.go; read more", "late");
    guest.bind(turn.ref);
    go(turn);
    expect([await heard(), marks()]).toEqual(["403", 0]);
  });

  test("does not count from a thief that is gone before anybody looks", async () => {
    const { guest, startTurn, go, heard, marks, http } = await start();
    const turn = startTurn("read more");
    guest.bind(turn.ref);
    for (let n = 0; n < 5; n++) {
      const thief = startTurn("$CALL; true", "close");
      go(thief);
      await once(thief.child, "exit");
    }
    expect(await heard()).toMatch(/^closed/);
    const other = http.admit(() => ({ name: "x", version: "1", tools: [] }));
    expect((await clientOf(http.url, other).post(ping)).status).toBe(200);
    expect(marks()).toBe(0);
  });

  test("is a sentence for the thief, and its connection is not trusted later", async () => {
    const { http, guest, startTurn } = await start();
    const { post } = clientOf(http.url, guest);
    expect((await post(ping)).status).toBe(200);
    // the connection above is kept alive: it is looked at again
    guest.bind(startTurn("read more").ref);
    const refused = await post(ping);
    expect([refused.status, await refused.json()]).toEqual([
      403,
      { error: "This token belongs to the process of another turn." },
    ]);
    guest.bind({ pid: process.pid, start: null });
    expect((await post(ping)).status).toBe(200);
  });
});
