/**
 * Saves a checkpoint with one process instead of six. It needs the data of an earlier checkpoint of the run. It reports
 * when the files are staged, so that the next turn can start while the commit is written.
 *
 * After a change of HEAD or configuration, or after an error, the whole save is used instead.
 */
import { spawn } from "node:child_process";
import { statSync } from "node:fs";
import { join } from "node:path";
import { readAnyones } from "../../system/files.ts";
import type { Repository } from "../repository.ts";
import { FILES } from "./stage.ts";

export interface QuickSave {
  readonly ref: string;
  readonly parent: string;
  /** The tree of the last checkpoint. An equal tree makes no new checkpoint. */
  readonly tree: string;
  readonly label: string;
  readonly index: string;
  readonly env: Readonly<Record<string, string>>;
}

export type QuickResult =
  | { readonly kind: "saved"; readonly tree: string; readonly commit: string }
  | { readonly kind: "same" }
  | { readonly kind: "failed" };

// "$@" is git with its settings; the label goes through the environment, where no shell reads it. Nested repositories need
// the care of \`stageFiles\`.
const SCRIPT = `
n=$1; shift
"$@" ls-files -s | grep -q '^160000 ' && exit 7
"$@" add -A -- ${FILES.map((path) => `'${path}'`).join(" ")} || exit 3
echo staged
t=$("$@" write-tree) || exit 4
[ "$t" = "$LOOP_TREE" ] && { echo same; exit 0; }
c=$(printf '%s\\n' "$LOOP_LABEL" | "$@" commit-tree "$t" -p "$LOOP_PARENT") || exit 5
"$@" update-ref "$n" "$c" '' || exit 6
echo "saved $t $c"
`;

/** Calls `onStaged` when the files may change again, at the latest with the result. */
export function quickSave({ git }: Repository, save: QuickSave, onStaged: () => void): Promise<QuickResult> {
  return new Promise((done) => {
    const words = [save.ref, git.program, ...git.settings];
    const child = spawn("/bin/sh", ["-c", SCRIPT, "loop-checkpoint", ...words], {
      cwd: git.cwd,
      env: {
        ...git.env,
        ...save.env,
        GIT_INDEX_FILE: save.index,
        LOOP_TREE: save.tree,
        LOOP_PARENT: save.parent,
        LOOP_LABEL: save.label,
      },
      stdio: ["ignore", "pipe", "ignore"],
      timeout: git.timeoutMs,
      killSignal: "SIGKILL",
    });
    let said = "";
    child.stdout.on("data", (chunk: Buffer) => {
      said += chunk.toString("latin1");
      if (said.startsWith("staged\n")) onStaged();
    });
    child.stdout.on("error", () => {});
    child.once("error", () => settle({ kind: "failed" }));
    child.once("close", (code) => settle(code === 0 ? read(said) : { kind: "failed" }));
    function settle(result: QuickResult): void {
      if (result.kind !== "failed") onStaged();
      done(result);
    }
  });
}

function read(said: string): QuickResult {
  if (said.endsWith("same\n")) return { kind: "same" };
  const [, tree, commit] = /^saved ([0-9a-f]{40,64}) ([0-9a-f]{40,64})$/m.exec(said) ?? [];
  return tree === undefined || commit === undefined ? { kind: "failed" } : { kind: "saved", tree, commit };
}

/** Stays the same while HEAD, its branch and the configuration stay the same. */
export function signOfRepository({ gitDir, commonDir, settingsFiles }: Repository): string {
  const head = readAnyones(join(gitDir, "HEAD")) ?? "";
  const [, ref] = /^ref: (\S+)/.exec(head) ?? [];
  const files = ["HEAD", "config", "config.worktree", "packed-refs", "info/attributes", ref ?? ""];
  const paths = files.flatMap((name) => [join(commonDir, name), join(gitDir, name)]);
  return JSON.stringify([head, ...[...paths, ...settingsFiles].map(stampOf)]);
}

function stampOf(path: string): string {
  try {
    const stat = statSync(path, { bigint: true });
    return `${stat.ino}.${stat.size}.${stat.mtimeNs}.${stat.ctimeNs}`;
  } catch {
    return "";
  }
}
