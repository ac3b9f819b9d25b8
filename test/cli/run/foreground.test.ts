/** The skeleton of every run in the foreground: signals, a folder that goes away, and the end. */
import { mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Project } from "../../../src/cli/project.ts";
import { type Run, type RunKind, type RunParts, runForeground } from "../../../src/cli/run/foreground.ts";
import { listenForStop, type StopRequest } from "../../../src/cli/run/signals.ts";
import { createReconciler } from "../../../src/compose/engine.ts";
import { FolderStore } from "../../../src/store/folder/folder-store.ts";
import { ensureLoopDir } from "../../../src/store/folder/loop-dir.ts";

function makeProject(): Project {
  const root = mkdtempSync(join(tmpdir(), "loop-foreground-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const dir = ensureLoopDir(root);
  return { root, dir, store: new FolderStore(dir, { now: Date.now, say: () => {} }) };
}

function listen(): StopRequest {
  const stop = listenForStop();
  onTestFinished(stop.off);
  return stop;
}

function start(project: Project, stop: StopRequest, createKind: (run: Run) => Partial<RunKind>) {
  const problems: unknown[] = [];
  const parts: RunParts = {
    project,
    stop,
    agent: createReconciler(project.root),
    hasPerson: false,
    view: {
      notify: () => {},
      problem: (error) => void problems.push(error),
      askPermission: async () => null,
    },
  };
  const kind = (run: Run): RunKind => ({
    observe: () => {},
    interrupt: (signal) => void run.stop(signal),
    end: () => 0,
    ...createKind(run),
  });
  return { ended: runForeground(parts, kind), problems };
}

describe("a run in the foreground", () => {
  test("C12 every signal reaches it with its number, also one that came before the engine was there", async () => {
    const stop = listen();
    const heard: string[] = [];
    process.emit("SIGTERM", "SIGTERM");
    const { ended } = start(makeProject(), stop, (run) => ({
      started: () => void process.emit("SIGTERM", "SIGTERM"),
      interrupt: (signal, nth) => {
        heard.push(`${signal} ${nth}`);
        if (nth === 2) void run.stop("twice");
      },
      end: () => 130,
    }));
    expect(await ended).toBe(130);
    expect(heard).toEqual(["SIGTERM 1", "SIGTERM 2"]);
  });

  test("a signal that cannot be carried out is a problem that is told, and the next one still counts", async () => {
    const stop = listen();
    const { ended, problems } = start(makeProject(), stop, (run) => ({
      started: () => void process.emit("SIGTERM", "SIGTERM"),
      interrupt: async (_, nth) => {
        if (nth === 1) {
          process.emit("SIGTERM", "SIGTERM");
          throw new Error("the disk is full");
        }
        await run.stop("twice");
      },
    }));
    expect(await ended).toBe(0);
    expect(problems).toMatchObject([{ message: "the disk is full" }]);
  });

  test("what it is about may be lost in two ways at once, and is told once", async () => {
    const seen: string[] = [];
    const { ended } = start(makeProject(), listen(), (run) => ({
      started: () => {
        run.lose();
        run.lose();
      },
      lost: () => seen.push("lost"),
    }));
    await ended;
    expect(seen).toEqual(["lost"]);
  });

  test("a folder that is moved away ends it, and it is told once", async () => {
    const project = makeProject();
    const seen: string[] = [];
    const { ended } = start(project, listen(), (run) => ({
      started: () => renameSync(project.dir, `${project.dir}.moved`),
      lost: () => seen.push("lost"),
      end: () => {
        seen.push(`end, gone: ${run.isGone}`);
        return 1;
      },
    }));
    expect(await ended).toBe(1);
    expect(seen).toEqual(["lost", "end, gone: true"]);
  });

  test("no question is open when the exit code is asked for", async () => {
    const { ended } = start(makeProject(), listen(), (run) => ({
      started: () => void run.stop("at once"),
      end: () => (run.withdrawn.aborted ? 0 : 1),
    }));
    expect(await ended).toBe(0);
  });
});
