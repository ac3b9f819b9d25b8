/** What a `loop up` costs that has nothing to do, and one that waits behind it. Linux only: /proc tells. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { addFifty, COMMAND, commandEnv, tempProject } from "./project.ts";
import { isQuick, report } from "./report.ts";

const SECONDS = isQuick ? 10 : 60;
const LIMIT_PERCENT = 0.2;

if (process.platform === "linux") await measure();
else report({ name: "idle loop up", figure: "needs /proc", ratio: null, peer: "-" });

async function measure(): Promise<void> {
  const { root, dir } = tempProject();
  await addFifty(dir);
  const children: ChildProcess[] = [];
  try {
    const owner = await up(root, "owner", children);
    const passive = await up(root, "passive", children);
    // past what starting up leaves to do: compiled code, collected garbage, the first published file
    await pass(2_000);
    const before = [owner, passive].map(cpuMs);
    const startedAt = performance.now();
    await pass(SECONDS * 1000);
    const wallMs = performance.now() - startedAt;
    const after = [owner, passive].map(cpuMs);
    for (const [index, name] of ["idle loop up, 50 tasks", "passive loop up, 50 tasks"].entries()) {
      const percent = (100 * ((after[index] ?? 0) - (before[index] ?? 0))) / wallMs;
      report({
        name,
        figure: `${percent.toFixed(3)} % CPU over ${SECONDS} s`,
        ratio: percent / LIMIT_PERCENT,
        peer: `limit ${LIMIT_PERCENT} %`,
        limit: 1,
      });
    }
  } finally {
    for (const child of children) {
      const gone = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGTERM");
      await gone;
    }
  }
}

async function up(root: string, role: string, children: ChildProcess[]): Promise<number> {
  const child = spawn(process.execPath, [COMMAND, "up", "--json", "--agent-cmd", "true"], {
    cwd: root,
    env: commandEnv(root),
    stdio: ["ignore", "pipe", "inherit"],
  });
  children.push(child);
  await new Promise<void>((resolve, reject) => {
    let said = "";
    child.stdout.on("data", (chunk: Buffer) => {
      said += chunk;
      if (said.includes(`"role":"${role}"`)) resolve();
    });
    child.once("exit", () => reject(new Error(`loop up ended: ${said}`)));
  });
  return child.pid ?? 0;
}

/** User and system time of the whole process so far. */
function cpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / ticksPerSecond();
}

function ticksPerSecond(): number {
  return Number(execFileSync("getconf", ["CLK_TCK"], { encoding: "utf8" }));
}

function pass(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
