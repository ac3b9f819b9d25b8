/** H4 J4: each file of a project is a link, a pipe, a folder or a file of another user: see `fixtures/project-files.ts`. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ANYONES, FILES, KINDS, type Kind, SECRET, type Seen } from "./fixtures/project-files.ts";

/** A process that is silent for so long waits for a pipe. */
const SILENT_MS = 20_000;

let base = "";
beforeAll(async () => {
  base = mkdtempSync(join(tmpdir(), "loopwright-files-"));
  await build({
    entryPoints: [fileURLToPath(new URL("fixtures/project-files.ts", import.meta.url))],
    outfile: join(base, "walk.mjs"),
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    banner: {
      js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
    },
    logLevel: "error",
  });
});
afterAll(() => rmSync(base, { recursive: true, force: true }));

interface Walk {
  readonly seen: readonly Seen[];
  /** The file at which the process was silent; null: it ended. */
  readonly hangsAt: string | null;
  readonly stderr: string;
}

async function walk(kind: Kind, folder: string): Promise<Walk> {
  const env = { PATH: process.env.PATH, HOME: join(folder, "home"), LC_ALL: "C" };
  const child = spawn(process.execPath, [join(base, "walk.mjs"), "walk", kind, folder], { env });
  const seen: Seen[] = [];
  let about = "";
  let isSilent = false;
  let stderr = "";
  const giveUp = () => {
    isSilent = true;
    child.kill("SIGKILL");
  };
  let timer = setTimeout(giveUp, SILENT_MS);
  child.stderr.on("data", (text) => {
    stderr += text;
  });
  createInterface({ input: child.stdout }).on("line", (line) => {
    clearTimeout(timer);
    timer = setTimeout(giveUp, SILENT_MS);
    const message = JSON.parse(line) as Seen & { about?: string };
    if (message.about === undefined) seen.push(message);
    else about = `${message.about} (${message.use})`;
  });
  await once(child, "close");
  clearTimeout(timer);
  return { seen, hangsAt: isSilent ? about : null, stderr };
}

/** A fault in the program is a TypeError, a SyntaxError and so on. A command says one sentence. */
function isTold({ error }: Seen): boolean {
  if (error === null) return true;
  const isCommand = error.message.startsWith("exit ");
  return isCommand ? /^exit (?:1|64): loop: [^|]+$/.test(error.message) : /^(?:Loop)?Error$/.test(error.name);
}

describe("in place of each file", () => {
  test.each(KINDS)("H4 J4 a %s is never followed, waited for or taken as ours", async (kind) => {
    if (kind === "file of another user" && process.getuid?.() !== 0) return;
    const folder = mkdtempSync(join(base, "kind-"));
    for (const name of ["home", "outside"]) mkdirSync(join(folder, name), { mode: 0o700 });
    writeFileSync(join(folder, "outside", "victim"), SECRET);
    chmodSync(join(folder, "outside", "victim"), 0o666);
    const { seen, hangsAt, stderr } = await walk(kind, folder);
    expect({ hangsAt, stderr }).toEqual({ hangsAt: null, stderr: "" });
    expect(seen.length).toBe(Object.values(FILES).flat().length);
    expect.soft(readFileSync(join(folder, "outside", "victim"), "utf8"), "the other file").toBe(SECRET);
    expect.soft(readdirSync(join(folder, "outside")), "nothing new outside").toEqual(["victim"]);
    expect
      .soft(
        seen.filter((one) => !isTold(one)),
        "one sentence",
      )
      .toEqual([]);
    const leaks = seen.filter(({ path, hasSecret }) => hasSecret && !ANYONES.has(path));
    expect.soft(leaks.map(({ path, use }) => [path, use])).toEqual([]);
  });
});
