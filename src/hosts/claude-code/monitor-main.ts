/**
 * The plugin's monitor: each line that it prints wakes the idle client. It prints the lines of the spool (wake.ts), and
 * replaces the server while no server runs.
 *
 * It must not exit while the client runs, because the client would report that to its model, which costs a turn. It must
 * exit when the client has ended, because nothing else stops it.
 */
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { lookAt, readAfter, readSmall } from "../../system/files.ts";
import { procStart } from "../../system/process.ts";
import { answers } from "../../system/process-table.ts";
import { openLog } from "../conversation/debug-log.ts";
import { commandBeside } from "../conversation/typed.ts";
import { readClient, withoutClient } from "./client.ts";
import { Resident } from "./resident.ts";
import { registerMonitor, spoolPath } from "./wake.ts";

/** How soon a line reaches the client. An idle check is one system call. */
const LOOK_MS = 200;
/** After this time without a server, the monitor replaces it. */
const SERVER_GONE_MS = 3_000;

const client = readClient(process.env);
// the client passes the plugin's data folder only on the command line
const serverFile = process.argv[2] === undefined ? null : `${process.argv[2]}/server-${client.process.pid}`;
process.env = withoutClient(process.env);
const dir = join(client.root, ".loop");
const log = openLog(client.root, process.env);
const spool = spoolPath(dir, client.process.pid);
let offset = lookAt(spool).size;
let isRegistered = false;
let serverGoneSince: number | null = null;
let standIn: Resident | null = null;

const looking = setInterval(look, LOOK_MS);
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.once(signal, () => void leave());
// the client has ended, and so has the reader of our output
process.stdout.on("error", () => void leave());

function look(): void {
  try {
    if (!answers(client.process.pid)) return void leave();
    if (!existsSync(dir)) {
      isRegistered = false;
      return;
    }
    if (!isRegistered)
      registerMonitor(dir, client.process.pid, { pid: process.pid, start: procStart(process.pid) });
    isRegistered = true;
    handOn();
    watchServer(Date.now());
  } catch (error) {
    log("monitor", String(error));
  }
}

function handOn(): void {
  if (lookAt(spool).size <= offset) return;
  const text = readAfter(spool, offset, Buffer.alloc(0))?.toString("utf8") ?? "";
  const whole = text.slice(0, text.lastIndexOf("\n") + 1);
  offset += Buffer.byteLength(whole);
  if (whole !== "") process.stdout.write(whole);
}

/** Without a server nothing would fire due tasks. The monitor does it until a server runs again. */
function watchServer(now: number): void {
  const [first] = (serverFile === null ? "" : (readSmall(serverFile) ?? "")).split("\n");
  const pid = Number(first);
  if (pid > 1 && answers(pid)) {
    serverGoneSince = null;
    const before = standIn;
    standIn = null;
    void before?.close(false);
    return;
  }
  serverGoneSince ??= now;
  if (now - serverGoneSince < SERVER_GONE_MS) return;
  standIn ??= new Resident({
    client,
    env: process.env,
    command: commandBeside(process.argv[1] ?? ""),
    say: (message) => log("monitor", message),
    stays: true,
  });
  standIn.lookAround();
}

let isLeaving = false;

async function leave(): Promise<void> {
  if (isLeaving) return;
  isLeaving = true;
  clearInterval(looking);
  await standIn?.close(true).catch(() => {});
  for (const name of ["wake", "monitor", "pending"])
    rmSync(`${dir}/sessions/${name}-${client.process.pid}`, { force: true });
  process.exit(0);
}
