/**
 * The plugin's monitor: each line that it prints wakes the client when that is idle. It hands on the lines of the
 * spool (wake.ts), and acts for the conversation itself as long as the server does not.
 *
 * It must not end while the client lives: the client tells its model of that, which costs a turn. And it must end
 * when the client is gone: nobody else ends it.
 */
import { closeSync, existsSync, fstatSync, openSync, readSync, rmSync } from "node:fs";
import { join } from "node:path";
import { readSmall } from "../../system/files.ts";
import { procStart } from "../../system/process.ts";
import { answers } from "../../system/process-table.ts";
import { openLog } from "../conversation/debug-log.ts";
import { commandBeside } from "../conversation/typed.ts";
import { readClient, withoutClient } from "./client.ts";
import { Resident } from "./resident.ts";
import { registerMonitor, spoolPath } from "./wake.ts";

/** How soon a line reaches the client; an idle look is one system call. */
const LOOK_MS = 200;
/** A server that is not there for so long is not coming. */
const SERVER_GONE_MS = 3_000;

const client = readClient(process.env);
// the client puts the plugin's data folder into the command line only
const serverFile = process.argv[2] === undefined ? null : `${process.argv[2]}/server-${client.process.pid}`;
process.env = withoutClient(process.env);
const dir = join(client.root, ".loop");
const log = openLog(client.root, process.env);
let offset = lengthOf(spoolPath(dir, client.process.pid));
let isRegistered = false;
let serverGoneSince: number | null = null;
let standIn: Resident | null = null;

const looking = setInterval(look, LOOK_MS);
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.once(signal, () => void leave());
// the client is gone, and with it whoever read us
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
  const path = spoolPath(dir, client.process.pid);
  if (lengthOf(path) <= offset) return;
  const fd = openSync(path, "r");
  try {
    const bytes = Buffer.alloc(fstatSync(fd).size - offset);
    const text = bytes.toString("utf8", 0, readSync(fd, bytes, 0, bytes.length, offset));
    const end = text.lastIndexOf("\n") + 1;
    offset += Buffer.byteLength(text.slice(0, end));
    if (end > 0) process.stdout.write(text.slice(0, end));
  } finally {
    closeSync(fd);
  }
}

/** Without a server nobody would fire what is due: then it is done from here, until there is one again. */
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

function lengthOf(path: string): number {
  try {
    const fd = openSync(path, "r");
    const { size } = fstatSync(fd);
    closeSync(fd);
    return size;
  } catch {
    return 0;
  }
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
