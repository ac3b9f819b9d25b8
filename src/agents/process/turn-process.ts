/**
 * The processes of a turn: the wrapper that takes the ticket, the agent, and everything the agent starts. They are
 * found by their group, by their seal and by marks in their environment.
 *
 * 1. The agent starts only after its wrapper created the ticket (ticket.ts).
 * 2. The wrapper opens the files of the turn, after the ticket. The runner does not, because it may be frozen.
 * 3. A group belongs to the turn only while the wrapper or a marked member proves it.
 * 4. When the runner is dead, the wrapper ends what the turn left.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { constants } from "node:os";
import type { Turn } from "../../ports/agent.ts";
import { withInterpreter } from "../../system/find-program.ts";
import { type Tree, treeMembers } from "../../system/process-tree.ts";
import { type Sealing, sealingOf, sealOf } from "../../system/seal.ts";
import { withoutTurn } from "../../system/turn-env.ts";
import { promptFile } from "./run-folder.ts";

export interface TurnProgram {
  readonly projectDir: string;
  readonly argv: (turn: Turn) => readonly [string, ...string[]];
  readonly env: NodeJS.ProcessEnv;
  readonly shell: string;
}

/** The wrapper's exit code without a ticket. An agent may use the same code, so check the ticket too. */
export const NO_TICKET = 97;

// Only builtins before the ticket exists: no fork, no PATH lookup, nothing that hangs. `set -C` opens the ticket with
// O_EXCL. `exec` excludes builtins and functions.
const makeWrapper = ({ set, sweep }: Sealing, seal: number) => `
${set(seal)}
${sweep(seal)}
d=$1 t=$2 u=$3
shift 3
b= s=
[ -r /proc/sys/kernel/random/boot_id ] && read -r b </proc/sys/kernel/random/boot_id
[ -r "/proc/$$/stat" ] && read -r s <"/proc/$$/stat"
umask 077
set -C
printf 'pid %s\\nboot %s\\nstat %s\\nend\\n' "$$" "$b" "$s" >"$d/ticket.$t" || exit ${NO_TICKET}
set +C
( umask "$u"; exec "$@" ) <"$d/prompt.txt" >"$d/answer.txt" 2>"$d/stderr.txt"
c=$?
kill -0 "$PPID" || sweep
printf '%s\\n' "$c" >"$d/exit.$t"
exit "$c"
`;

/** Starts the wrapper as the leader of its own group. Throws like `spawn`. */
export function spawnTurn(program: TurnProgram, turn: Turn, folder: string): ChildProcess {
  const { projectDir, argv, env, shell } = program;
  const umask = process.umask().toString(8);
  const sealing = sealingOf(shell);
  const wrapper = [shell, "-c", makeWrapper(sealing, sealFor(projectDir, turn)), "loop-turn"];
  const agent = withInterpreter(argv(turn), env, projectDir);
  const words = [folder, String(turn.token), umask, ...agent];
  const [command = shell, ...args] = [...sealing.before, ...wrapper, ...words];
  return spawn(command, args, {
    cwd: projectDir,
    detached: true,
    stdio: "ignore",
    env: {
      ...withoutTurn(env),
      PWD: projectDir,
      ...turn.env,
      LOOP_ID: turn.loopId,
      LOOP_FIRE_ID: turn.id,
      LOOP_PROMPT_FILE: promptFile(folder),
      LOOP_PROJECT: projectDir,
    },
  });
}

/** Never rejects: resolves with the error when the child could not start. */
export function exitOf(child: ChildProcess): Promise<number | Error> {
  return new Promise((done) => {
    child.once("error", done);
    child.once("exit", (code, signal) =>
      done(code ?? 128 + (signal === null ? 0 : constants.signals[signal])),
    );
  });
}

/** Everything that the turn started. `group` is null when the wrapper is gone and cannot prove the group. */
export function treeOf(projectDir: string, turn: Turn, group: number | null): Tree {
  const marks = [`LOOP_FIRE_ID=${turn.id}`, `LOOP_PROJECT=${projectDir}`];
  return { group, marks, seal: sealFor(projectDir, turn) };
}

/** Every runner computes the same seal, so it finds processes of a dead runner's turn. */
function sealFor(projectDir: string, turn: Turn): number {
  return sealOf(JSON.stringify([projectDir, turn.id]));
}

/** What an ended turn left. Without a proven group, a member proves it. */
export function leftOf(tree: Tree, pid: number): Tree {
  if (tree.group !== null) return tree;
  const group = new Set(treeMembers({ group: pid, marks: [] }));
  // A pid is not reused while it is the number of a group, so one marked member proves the group.
  const isOurs = treeMembers(tree).some((member) => group.has(member));
  return { ...tree, group: isOurs ? pid : null };
}
