/** Folders and files that are not as they should be. */
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { cleanEnv, create, hashTree, LOOP, listOf, makeProject, runLoop } from "../support/cli.ts";

const NOBODY = 65_534;

async function fails(cwd: string, args: readonly string[], sentence: RegExp, uid?: number): Promise<void> {
  const before = hashTree(cwd);
  const result = await runLoop(args, { cwd, ...(uid === undefined ? {} : { uid }) });
  expect
    .soft(result, args.join(" "))
    .toMatchObject({ code: 1, stdout: "", stderr: expect.stringMatching(sentence) });
  expect.soft(result.stderr.trimEnd().split("\n").length).toBeLessThanOrEqual(2);
  expect.soft(hashTree(cwd), "nothing was changed").toBe(before);
}

/** Gives the folder and its files to somebody else, who has another key. */
function giveTo(cwd: string, uid: number): void {
  const dir = join(cwd, ".loop");
  for (const path of [dir, ...readdirSync(dir).map((name) => join(dir, name))]) chownSync(path, uid, uid);
}

describe("the folder", () => {
  test.skipIf(process.getuid?.() !== 0)(
    "H5 A9 one that cannot be written to: exit 1, and no half-made .loop",
    async () => {
      const cwd = makeProject();
      const base = dirname(cwd);
      for (const path of [base, cwd, join(base, "bin")]) chmodSync(path, 0o755);
      await fails(
        cwd,
        ["5m", "x"],
        /^loop: Cannot write .*\.loop: permission denied\.\n {2}Nothing was changed\.\n$/,
        NOBODY,
      );
      await fails(cwd, ["init"], /permission denied/, NOBODY);
      await fails(cwd, ["up", "--agent-cmd", "cat"], /permission denied/, NOBODY);
      // the folder is his, but its journal belongs to somebody else
      await create(cwd, "5m", "mine", "--no-now");
      giveTo(cwd, NOBODY);
      const journal = join(cwd, ".loop", "journal.jsonl");
      chownSync(journal, 0, 0);
      chmodSync(journal, 0o644);
      await fails(cwd, ["5m", "x"], /journal\.jsonl(?:: permission denied| belongs to another user)/, NOBODY);
      // he has the files, but not the key
      chownSync(journal, NOBODY, NOBODY);
      await fails(cwd, ["5m", "x"], /^loop: The loops here are not signed with your key/, NOBODY);
    },
  );

  test.skipIf(process.getuid?.() !== 0)(
    "H4 J4 a .loop of another user is refused, whatever he allows, and made private when it is ours",
    async () => {
      const cwd = makeProject();
      for (const path of [dirname(cwd), cwd, join(dirname(cwd), "bin")]) chmodSync(path, 0o755);
      await create(cwd, "5m", "mine", "--no-now");
      const dir = join(cwd, ".loop");
      for (const name of readdirSync(dir)) chmodSync(join(dir, name), 0o666);
      chmodSync(dir, 0o777);
      const sentence =
        /^loop: .*\.loop belongs to another user\.\n {2}Remove it, or make it yours: sudo chown -R /;
      for (const args of [["5m", "x"], ["list"], ["up", "--agent-cmd", "cat"], ["trust", "--yes"], ["init"]])
        await fails(cwd, args, sentence, NOBODY);
      await create(cwd, "5m", "another", "--no-now");
      expect(statSync(dir).mode & 0o777).toBe(0o700);
    },
  );

  test.skipIf(process.getuid?.() !== 0)(
    "H5 files that cannot be read are one sentence and no stack",
    async () => {
      const cwd = makeProject();
      for (const path of [dirname(cwd), cwd]) chmodSync(path, 0o755);
      await create(cwd, "5m", "mine", "--no-now");
      chownSync(join(cwd, ".loop"), NOBODY, NOBODY);
      await fails(cwd, ["list"], /^loop: Cannot read .*journal\.jsonl: permission denied\.\n$/, NOBODY);
      giveTo(cwd, NOBODY);
      chownSync(join(cwd, ".loop", "tasks.json"), 0, 0);
      await fails(cwd, ["list"], /\nloop: Cannot read .*tasks\.json: permission denied\.\n$/, NOBODY);
    },
  );

  test("H4 H5 .loop that is a file, a link out of the project or a link to nothing", async () => {
    const file = makeProject();
    writeFileSync(join(file, ".loop"), "");
    for (const args of [["5m", "x"], ["list"], ["init"], ["up", "--agent-cmd", "cat"]])
      await fails(
        file,
        args,
        /\.loop is a file; loopwright needs a folder of that name\.\n {2}Rename or remove it\.\n$/,
      );
    const linked = makeProject();
    symlinkSync(join(dirname(linked), "home"), join(linked, ".loop"));
    for (const args of [["5m", "x"], ["list"], ["history"]])
      await fails(linked, args, /\.loop is a link that leads out of the project\./);
    const dangling = makeProject();
    symlinkSync("/nowhere/at/all", join(dangling, ".loop"));
    await fails(dangling, ["5m", "x"], /leads out of the project/);
  });

  test("H4 files and folders are the person's alone", async () => {
    const cwd = makeProject();
    await create(cwd, "5m", "x", "--no-now");
    expect((await runLoop(["init"], { cwd })).code).toBe(0);
    const dir = join(cwd, ".loop");
    expect(statSync(dir).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(dir)) expect(statSync(join(dir, name)).mode & 0o777, name).toBe(0o600);
  });

  test("H5 with 64 open files at most every command still starts", async () => {
    const cwd = makeProject();
    const agent = `--check 'ok=test -f made' --agent-cmd 'cat >/dev/null; touch made'`;
    for (const args of ["5m x --no-now", "list --json", `until x --force --yes --exit-on proof ${agent}`]) {
      const shell = `ulimit -n 64; exec "${process.execPath}" "${LOOP}" ${args}`;
      const { status, stderr } = spawnSync("sh", ["-c", shell], {
        cwd,
        env: cleanEnv(cwd),
        encoding: "utf8",
      });
      expect({ args, status, stderr }).toMatchObject({
        status: 0,
        stderr: expect.not.stringContaining("EMFILE"),
      });
    }
  });

  test("A3 the project is found from a folder below, and named with -C", async () => {
    const cwd = makeProject();
    mkdirSync(join(cwd, ".git"));
    mkdirSync(join(cwd, "src", "deep"), { recursive: true });
    await create(cwd, "5m", "from the top", "--no-now");
    const below = await runLoop(["list", "-C", join(cwd, "src", "deep")], { cwd });
    expect(below.stdout).toContain("from the top");
    const made = await runLoop(["5m", "y", "-C", "src/deep"], { cwd });
    expect(made.code).toBe(0);
    expect(existsSync(join(cwd, "src", "deep", ".loop"))).toBe(false);
    expect((await listOf(cwd)).tasks).toHaveLength(2);
  });
});

describe("config.json", () => {
  test.each([
    ["{ not json", /config\.json is not JSON: .*\n {2}Fix or remove it\.\n$/],
    ['{"maxTasks": "many"}', /config\.json: maxTasks: .*number/],
    ['{"expires": "soon"}', /config\.json: expires: expected a length of time such as 3d or 30d, or never\./],
    ['{"defaultInterval": "often"}', /config\.json: defaultInterval: expected a length of time/],
    ['{"timeZone": "Mars"}', /config\.json: timeZone: expected a time zone/],
    ['{"agent": "hal"}', /config\.json: agent: /],
    ['{"colour": true}', /config\.json: .*"colour"/],
    ["[]", /config\.json: .*expected object/],
  ])("H5 %s is said with its place, and nothing is done", async (text, sentence) => {
    const cwd = makeProject();
    mkdirSync(join(cwd, ".loop"));
    writeFileSync(join(cwd, ".loop", "config.json"), text);
    await fails(cwd, ["5m", "x"], sentence);
  });

  test("H4 one that is a link is not followed", async () => {
    const cwd = makeProject();
    mkdirSync(join(cwd, ".loop"));
    writeFileSync(join(dirname(cwd), "home", "config.json"), "{}");
    symlinkSync(join(dirname(cwd), "home", "config.json"), join(cwd, ".loop", "config.json"));
    await fails(cwd, ["5m", "x"], /Cannot read .*config\.json: it is a symbolic link/);
  });

  test("A1 A7 its values are taken, and the command line wins over them", async () => {
    const cwd = makeProject();
    expect((await runLoop(["init"], { cwd })).stdout).toContain("Wrote");
    const path = join(cwd, ".loop", "config.json");
    const text = readFileSync(path, "utf8");
    expect((await runLoop(["init"], { cwd })).stdout).toContain("was not changed");
    expect(readFileSync(path, "utf8")).toBe(text);
    writeFileSync(path, '{"defaultInterval":"20m","expires":"never","jitter":false,"timeZone":"Asia/Tokyo"}');
    const task = await create(cwd, "look");
    expect(task).toMatchObject({ cron: "*/20 * * * *", expiresAt: null, jitterMs: 0, tz: "Asia/Tokyo" });
    const other = await create(cwd, "5m", "look", "--expires", "1d", "--tz", "UTC");
    expect(other).toMatchObject({ cron: "*/5 * * * *", tz: "UTC", expiresAt: expect.any(String) });
  });
});
