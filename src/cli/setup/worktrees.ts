/** `loop worktrees list | clean`: lists the worktrees of stories (C13), and removes those without unsaved work. */
import { cleanLine } from "../../core/text/clean.ts";
import { iso } from "../../core/views/moment.ts";
import type { Worktree, WorktreeState } from "../../git/worktrees/worktree-state.ts";
import { cleanWorktrees, listWorktrees } from "../../git/worktrees/worktrees.ts";
import { EXIT } from "../exit-codes.ts";
import { answer, type Io, type Style, terminalWidth } from "../io.ts";
import { openProject, type ProjectFlags } from "../project.ts";
import { type Cell, renderTable } from "../render/table.ts";

const STYLES: Readonly<Record<WorktreeState, Style>> = {
  active: "green",
  dirty: "yellow",
  open: "yellow",
  merged: "dim",
  orphaned: "red",
  unfinished: "dim",
};

export async function worktreesListCommand(flags: ProjectFlags, io: Io): Promise<number> {
  const all = await listWorktrees(openProject(flags, io).root);
  if (all.length === 0 && !flags.json) {
    io.say("There are no worktrees of stories here.");
    return EXIT.ok;
  }
  answer(flags, io, { worktrees: all.map(view) }, renderTable(all.map(rowOf), terminalWidth(), io));
  const count = all.filter(({ isRemovable }) => isRemovable).length;
  if (count > 0 && !flags.json) io.say(`${count} of ${all.length} can be removed with: loop worktrees clean`);
  return EXIT.ok;
}

/** Dirty, active and unmerged worktrees stay. */
export async function worktreesCleanCommand(
  flags: ProjectFlags & { readonly dryRun?: boolean },
  io: Io,
): Promise<number> {
  const isDryRun = flags.dryRun ?? false;
  const { root } = openProject(flags, io);
  const { removed, kept, problems } = await cleanWorktrees(root, { isDryRun });
  if (flags.json) io.json({ dryRun: isDryRun, removed: removed.map(view), kept: kept.map(view), problems });
  else {
    for (const { id, path, why } of removed)
      io.out(cleanLine(`${isDryRun ? "Would remove" : "Removed"} ${id} (${path}). ${why}`));
    if (removed.length === 0 && problems.length === 0) io.say("There is nothing to remove.");
    for (const { id, why, isRemovable } of kept) if (!isRemovable) io.say(cleanLine(`${id} stays. ${why}`));
  }
  for (const problem of problems) io.say(cleanLine(problem));
  return problems.length === 0 ? EXIT.ok : EXIT.failure;
}

function view({ createdAt, ...worktree }: Worktree): object {
  return { ...worktree, createdAt: iso(createdAt) };
}

function rowOf({ id, state, branch, path, why }: Worktree): readonly Cell[] {
  return [id, { style: STYLES[state], text: state }, branch ?? "", path, why];
}
