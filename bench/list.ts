/** How long a person, or a status line, waits for `loop list`: beside a Node that does nothing. */
import { spawnSync } from "node:child_process";
import { addFifty, COMMAND, commandEnv, tempProject } from "./project.ts";
import { isQuick, median, report } from "./report.ts";

const LIMIT = 1.6;
const RUNS = isQuick ? 30 : 60;

const { root, dir } = tempProject();
await addFifty(dir);

const bare: number[] = [];
const list: number[] = [];
for (let run = -2; run < RUNS; run++) {
  const pair: [number[], string[]][] = [
    [bare, ["-e", "0"]],
    [list, [COMMAND, "list"]],
  ];
  // in turn first and second, so that what one leaves behind (caches, clock speed) hits both alike
  for (const [times, args] of run % 2 === 0 ? pair : pair.reverse()) {
    const ms = time(args);
    if (run >= 0) times.push(ms);
  }
}
const [ours, peer] = [median(list), median(bare)];
report({
  name: "loop list, 50 tasks",
  figure: `${ours.toFixed(1)} ms`,
  ratio: ours / peer,
  peer: `node -e 0: ${peer.toFixed(1)} ms, limit ${LIMIT}`,
  limit: LIMIT,
});

function time(args: readonly string[]): number {
  const startedAt = performance.now();
  const { status, stdout } = spawnSync(process.execPath, args, {
    cwd: root,
    env: commandEnv(root),
    encoding: "utf8",
  });
  const ms = performance.now() - startedAt;
  if (status !== 0) throw new Error(`node ${args.join(" ")} ended with ${status}`);
  if (args[1] === "list" && stdout.split("\n").length < 50) throw new Error(`not a list: ${stdout}`);
  return ms;
}
