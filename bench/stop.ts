/**
 * What a person waits for at the end of every answer, in the real client: from the last byte of the model's answer to
 * its next request. A goal loop of our plugin beside a loop as a shell script, each with a short transcript and with
 * one of 200 MB; and, where there is no loop, our plugin beside one that only asks whether there is one.
 *
 * Those that are compared are open at the same time and take their turns one after the other: what slows the machine
 * down hits them alike, and each has come to rest when its turn comes, as after the seconds that a model takes.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import {
  CLAUDE,
  isClaudeMissing,
  isClaudeRequired,
  startTalk,
  type Talk,
  transcriptPath,
} from "./claude-run.ts";
import { lengthen } from "./long-transcript.ts";
import { COMMAND } from "./project.ts";
import { isQuick, median, report } from "./report.ts";

const ROUNDS = isQuick ? 20 : 50;
/** Where the limit is near to what a shared machine can tell apart. */
const CLOSE_ROUNDS = isQuick ? 60 : 200;
const WARM_UP = 8;
const LONG_BYTES = 200_000_000;
const LIMIT_SHELL = 0.5;
const LIMIT_LONG = 1.1;
const LIMIT_IDLE_MS = 2;

const OURS = resolve(dirname(COMMAND), "plugins/claude-code");
const SHELL = resolve("bench/shell-hook");
const SPEC = "write done.txt in this folder. Done when done.txt exists. Only that file.";
const UNTIL = `/loopwright:loop until --check "done=test -e done.txt" --yes --iterations 50 "${SPEC}"`;
/** A breaker pauses a goal that stands still, after five turns; fifty are all that one may have. */
const PROMPTS_PER_GOAL = 9;

/** Has its conversation end one more answer: milliseconds from the last byte to what follows. */
type Contender = () => Promise<number>;

const open: Talk[] = [];
const missing = whatIsMissing();
const base = missing === null ? mkdtempSync(join(tmpdir(), "loop-bench-stop-")) : "";
if (missing === null) await measure();
else if (isClaudeRequired) throw new Error(missing);
else report({ name: "stop to next request", figure: missing, ratio: null, peer: "-" });

async function measure(): Promise<void> {
  try {
    const shells = await takeTurns(ROUNDS, {
      ours: await goalLoop("ours", 0),
      shell: await shellLoop("shell", 0),
      shellLong: await shellLoop("shell-long", LONG_BYTES),
    });
    // anew: every turn of a conversation makes its next request longer, and both must be of the same age
    await closeAll();
    const long = await takeTurns(CLOSE_ROUNDS, {
      ours: await goalLoop("short", 0),
      oursLong: await goalLoop("long", LONG_BYTES),
    });
    await closeAll();
    const idle = await takeTurns(CLOSE_ROUNDS, {
      ours: await noLoop("idle", OURS),
      peer: await noLoop("peer", testPlugin()),
    });
    for (const talk of open) expectHooks(talk);
    reportShells(shells);
    reportLong(long);
    reportIdle(idle);
  } finally {
    await closeAll();
    rmSync(base, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function closeAll(): Promise<void> {
  for (const talk of open.splice(0)) await talk.close();
}

async function takeTurns<Name extends string>(
  rounds: number,
  contenders: Readonly<Record<Name, Contender>>,
): Promise<Record<Name, number>> {
  const names = Object.keys(contenders) as Name[];
  const times = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>;
  for (let round = -WARM_UP; round < rounds; round++) {
    for (const name of names) {
      const ms = await contenders[name]();
      if (round >= 0) times[name].push(ms);
    }
  }
  return Object.fromEntries(names.map((name) => [name, median(times[name])])) as Record<Name, number>;
}

function reportShells({ ours, shell, shellLong }: Record<"ours" | "shell" | "shellLong", number>): void {
  report({
    name: "stop to next request, goal loop",
    figure: `${ours.toFixed(1)} ms`,
    ratio: ours / shell,
    peer: `shell hook: ${shell.toFixed(1)} ms, limit ${LIMIT_SHELL}`,
    limit: LIMIT_SHELL,
  });
  report({
    name: "the shell hook, transcript of 200 MB",
    figure: `${shellLong.toFixed(1)} ms`,
    ratio: shellLong / shell,
    peer: `short transcript: ${shell.toFixed(1)} ms`,
  });
}

function reportLong({ ours, oursLong }: Record<"ours" | "oursLong", number>): void {
  report({
    name: "goal loop, transcript of 200 MB",
    figure: `${oursLong.toFixed(1)} ms`,
    ratio: oursLong / ours,
    peer: `short transcript: ${ours.toFixed(1)} ms, limit ${LIMIT_LONG}`,
    limit: LIMIT_LONG,
  });
}

function reportIdle({ ours, peer }: Record<"ours" | "peer", number>): void {
  report({
    name: "stop to end of turn, no loop",
    figure: `${ours.toFixed(1)} ms, ${(ours - peer).toFixed(1)} ms more`,
    ratio: ours / peer,
    peer: `sh -c 'test -e .loop': ${peer.toFixed(1)} ms, limit ${LIMIT_IDLE_MS} more`,
    value: ours - peer,
    limit: LIMIT_IDLE_MS,
  });
}

async function goalLoop(name: string, bytes: number): Promise<Contender> {
  const talk = await resumed(makeProject(name), OURS, bytes);
  let prompts = 0;
  let turns = 0;
  const begin = async () => {
    const isNew = prompts % PROMPTS_PER_GOAL === 0;
    if (isNew && prompts > 0) await talk.prompt("/loopwright:loop cancel --yes");
    const kind = await talk.prompt(isNew ? UNTIL : "/loopwright:loop continue");
    if (kind !== "request") throw new Error(`${name}: the loop does not begin`);
    prompts += 1;
    turns = 0;
  };
  await begin();
  return async () => {
    for (;;) {
      const { kind, ms } = await talk.answer();
      turns += 1;
      if (kind === "request") return ms;
      if (turns === 1) throw new Error(`${name}: the loop does not go on`);
      // paused by a breaker: no turn followed, and the time of that is not asked for
      await begin();
    }
  };
}

async function shellLoop(name: string, bytes: number): Promise<Contender> {
  const project = makeProject(name);
  const talk = await resumed(project, SHELL, bytes);
  mkdirSync(join(project, ".claude"));
  const front = ["---", "iteration: 1", "max_iterations: 0", 'completion_promise: "DONE"', "---"];
  writeFileSync(join(project, ".claude/shell-loop.md"), [...front, "", SPEC, ""].join("\n"));
  await talk.prompt(SPEC);
  return async () => {
    const { kind, ms } = await talk.answer();
    if (kind !== "request") throw new Error(`${name}: the shell hook let it stop`);
    return ms;
  };
}

async function noLoop(name: string, pluginDir: string): Promise<Contender> {
  const talk = await opened({ project: makeProject(name), pluginDir });
  await talk.prompt("hello");
  return async () => {
    const { kind, ms } = await talk.answer();
    if (kind !== "result") throw new Error(`${name}: the turn did not end`);
    // asked now and answered when it is its turn again: no model answers before the client has come to rest
    await talk.prompt("hello");
    return ms;
  };
}

/** A conversation that was held before, and has so many bytes of older days in its transcript. */
async function resumed(project: string, pluginDir: string, bytes: number): Promise<Talk> {
  const before = await opened({ project, pluginDir });
  await before.prompt("hello");
  await before.answer();
  await before.close();
  if (bytes > 0) lengthen(transcriptPath(project, before.session), bytes);
  return opened({ project, pluginDir, args: ["--resume", before.session] });
}

async function opened(options: Parameters<typeof startTalk>[0]): Promise<Talk> {
  const talk = await startTalk(options);
  open.push(talk);
  return talk;
}

function makeProject(name: string): string {
  const project = join(base, name, "project");
  mkdirSync(project, { recursive: true });
  for (let n = 0; n < 30; n++) writeFileSync(join(project, `file-${n}.txt`), `${n}\n`);
  const git = (...args: string[]) => execFileSync("git", args, { cwd: project, stdio: "ignore" });
  git("init", "-q");
  git("add", "-A");
  git("-c", "user.name=bench", "-c", "user.email=bench@localhost", "commit", "-qm", "start");
  return project;
}

/** A turn also ends where no hook was asked, and sooner. */
function expectHooks({ project, session }: Talk): void {
  const stops = readFileSync(transcriptPath(project, session), "utf8")
    .split("\n")
    .filter((line) => line.includes('"subtype":"stop_hook_summary"') && line.includes('"hookErrors":[]'));
  if (stops.length < CLOSE_ROUNDS)
    throw new Error(`${project}: hooks saw ${stops.length} stops of ${CLOSE_ROUNDS}`);
}

/** The least that a plugin can do about a stop. */
function testPlugin(): string {
  const dir = join(base, "test-plugin");
  const hook = { type: "command", command: "test -e .loop || exit 0" };
  mkdirSync(join(dir, ".claude-plugin"), { recursive: true });
  mkdirSync(join(dir, "hooks"));
  writeFileSync(join(dir, ".claude-plugin/plugin.json"), JSON.stringify({ name: "test", version: "0.0.0" }));
  writeFileSync(join(dir, "hooks/hooks.json"), JSON.stringify({ hooks: { Stop: [{ hooks: [hook] }] } }));
  return dir;
}

function whatIsMissing(): string | null {
  if (isClaudeMissing) return `needs Claude Code (${isClaudeRequired ? CLAUDE : "npm run test:claude"})`;
  if (spawnSync("jq", ["--version"]).status !== 0) return "needs jq, for the shell hook";
  return existsSync(OURS) ? null : `needs the plugin at ${OURS} (npm run build)`;
}
