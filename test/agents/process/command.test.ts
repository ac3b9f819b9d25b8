import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createCommandAgent } from "../../../src/agents/process/command.ts";
import type { LoopId } from "../../../src/core/loop.ts";
import {
  failedAs,
  fixture,
  makeControl,
  makeProject,
  makeTurn,
  type Project,
  plainEnd,
} from "../../fixtures/agents/project.ts";

/** Of a turn on this system. */
const FOUND_BY = process.platform === "linux" ? "seal" : "group";

let project: Project;
beforeEach(async () => {
  project = await makeProject();
});
afterEach(() => project.remove());

describe("a command as an agent (E3)", () => {
  test("gets the prompt on stdin, and its stdout is the answer", async () => {
    const agent = createCommandAgent({ command: "tr a-z A-Z", projectDir: project.dir });
    const control = makeControl();
    const text = "first line\nzweite Zeile: ünïcode 'quotes' \"and\" $(no) `shell` \\ \0 end";
    const end = await agent.run(makeTurn({ text }), control);
    expect(end.kind).toBe("ok");
    expect(end).toMatchObject({
      answer: expect.stringContaining("'QUOTES' \"AND\" $(NO) `SHELL` \\ \0 END"),
    });
    expect(control.started).toEqual([
      { pid: expect.any(Number), start: expect.any(String), foundBy: FOUND_BY },
    ]);
  });

  test("pipelines, quotes and variables work as in a shell", async () => {
    const command = `printf '%s-%s' "$LOOP_ID" "it's" | sed "s/-/ + /"`;
    const end = await createCommandAgent({ command, projectDir: project.dir }).run(makeTurn(), makeControl());
    expect(end).toEqual(plainEnd("aabbccdd + it's"));
  });

  test("an exit code is a failure that quotes the last line of stderr without its colours", async () => {
    const agent = createCommandAgent({ command: `sh '${fixture("exits-3.sh")}'`, projectDir: project.dir });
    expect(await agent.run(makeTurn(), makeControl())).toEqual({
      ...plainEnd("partial answer\n"),
      ...failedAs("fault", "exit 3: no such branch"),
    });
  });

  test.each([
    ["echo 'on stdout'; exit 4", "exit 4: on stdout"],
    ["exit 5", "exit 5"],
    ["kill -9 $$", "killed by SIGKILL"],
    ["sh -c 'kill -15 $$'; exit $?", "killed by SIGTERM"],
    ["exit 97", "exit 97"],
    ["exit 255", "exit 255"],
    [`node -e 'console.error("x".repeat(500)); process.exit(1)'`, `exit 1: ${"x".repeat(200)}`],
  ])("%s fails as: %s", async (command, reason) => {
    const end = await createCommandAgent({ command, projectDir: project.dir }).run(makeTurn(), makeControl());
    expect(end).toMatchObject(failedAs("fault", reason));
  });

  test.each([
    [75, "outage"],
    [77, "auth"],
    [69, "fault"],
    [1, "fault"],
  ] as const)("B13 exit code %i is of the class %s, whatever is printed", async (code, type) => {
    const command = `echo 'rate limit reached, 401, overloaded' >&2; exit ${code}`;
    const end = await createCommandAgent({ command, projectDir: project.dir }).run(makeTurn(), makeControl());
    expect(end).toMatchObject(failedAs(type, `exit ${code}: rate limit reached, 401, overloaded`));
  });

  test("a missing or non-executable command is reported as such", async () => {
    writeFileSync(join(project.dir, "plain"), "no program");
    chmodSync(join(project.dir, "plain"), 0o644);
    const run = (command: string, fire: string) =>
      createCommandAgent({ command, projectDir: project.dir }).run(makeTurn({ id: fire }), makeControl());
    expect(await run("no-such-agent-anywhere", "a")).toMatchObject(
      failedAs(
        "fault",
        expect.stringMatching(/^exit 127: the command was not found: .*no-such-agent-anywhere/),
      ),
    );
    expect(await run("./plain", "b")).toMatchObject(
      failedAs("fault", expect.stringMatching(/^exit 126: the command is not executable: .*plain/)),
    );
  });

  test("no answer is an empty answer, not a failure", async () => {
    const agent = createCommandAgent({
      command: `sh '${fixture("says-nothing.sh")}'`,
      projectDir: project.dir,
    });
    expect(await agent.run(makeTurn(), makeControl())).toEqual(plainEnd(""));
  });

  test("a command that does not read its prompt still succeeds", async () => {
    const agent = createCommandAgent({ command: "echo fine", projectDir: project.dir });
    const end = await agent.run(makeTurn({ text: "x".repeat(1_000_000) }), makeControl());
    expect(end).toMatchObject({ kind: "ok", answer: "fine\n" });
  });

  test("runs in the project with the runner's environment, the turn's variables, and none of an outer turn", async () => {
    const outer = {
      LOOP_ID: "00000000",
      LOOP_FIRE_ID: "00000000-1",
      LOOP_KIND: "work",
      LOOP_SLOT: "then",
      LOOP_ITERATION: "3",
      LOOP_NONCE: "secret of the outer turn",
      LOOP_ROLE: "judge",
      LOOP_PROMPT_FILE: "/nowhere/prompt.txt",
      LOOP_PROJECT: "/nowhere",
    };
    const env = { PATH: process.env.PATH, HOME: "/nowhere", SECRET: "it's $HOME\nor so" };
    const command = `node -p 'JSON.stringify([process.cwd(), process.env])'`;
    const agent = createCommandAgent({ command, projectDir: project.dir, env: { ...outer, ...env } });
    const own = { LOOP_KIND: "late", LOOP_SLOT: "2026-01-02T03:04:05.006Z" };
    const end = await agent.run(makeTurn({ env: { ...own, LOOP_ID: "not this" } }), makeControl());
    if (end.kind !== "ok") throw new Error(JSON.stringify(end));
    const [cwd, seen] = JSON.parse(end.answer) as [string, Record<string, string>];
    expect(cwd).toBe(project.dir);
    // `_` and the like are the shells' own
    const { _, SHLVL, OLDPWD, ...rest } = seen;
    expect(rest).toEqual({
      ...env,
      PWD: project.dir,
      LOOP_ID: "aabbccdd",
      LOOP_FIRE_ID: "aabbccdd-1",
      ...own,
      LOOP_PROMPT_FILE: join(project.dir, ".loop/runs/aabbccdd/aabbccdd-1/prompt.txt"),
      LOOP_PROJECT: project.dir,
    });
  });

  test("H4 files are 0600 in a folder of 0700, and the agent keeps the person's umask", async () => {
    const agent = createCommandAgent({ command: "umask; cat $LOOP_PROMPT_FILE", projectDir: project.dir });
    const end = await agent.run(makeTurn(), makeControl());
    const umask = process.umask().toString(8).padStart(4, "0");
    expect(end).toMatchObject({ kind: "ok", answer: `${umask}\ncheck the deploy` });
    const folder = join(project.dir, ".loop/runs/aabbccdd/aabbccdd-1");
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    for (const file of ["prompt.txt", "answer.txt", "stderr.txt", "ticket.7", "exit.7", "../intent.7"]) {
      expect([file, statSync(join(folder, file)).mode & 0o777]).toEqual([file, 0o600]);
    }
  });

  test.each([`with space`, `it's "quoted"`, "$HOME `id` $(id)", "-rf", "new\nline", "back\\slash;&|*"])(
    "works in a project whose folder is called %j",
    async (name) => {
      const odd = await makeProject(name);
      const agent = createCommandAgent({ command: `cat; node -p 'process.cwd()'`, projectDir: odd.dir });
      const end = await agent.run(makeTurn({ text: "hello " }), makeControl());
      expect(end).toEqual(plainEnd(`hello ${odd.dir}\n`));
      expect(readFileSync(join(odd.dir, ".loop/runs/aabbccdd/aabbccdd-1/exit.7"), "utf8")).toBe("0\n");
      await odd.remove();
    },
  );
});

describe("a broken environment is reported in a sentence and never throws (H1)", () => {
  const run = (options: { command?: string; projectDir?: string; shell?: string }, turn = makeTurn()) =>
    createCommandAgent({ command: "touch ran", projectDir: project.dir, ...options }).run(
      turn,
      makeControl(),
    );

  test("no shell", async () => {
    const end = await run({ shell: "/no/such/sh" });
    expect(end).toMatchObject(
      failedAs("fault", expect.stringMatching(/could not be started: .*\/no\/such\/sh/)),
    );
  });

  test("no project folder, which is not made either", async () => {
    const gone = join(project.dir, "gone");
    expect(await run({ projectDir: gone })).toMatchObject(
      failedAs("fault", expect.stringContaining(`the folder ${gone} does not exist`)),
    );
    expect(existsSync(gone)).toBe(false);
  });

  test("a command that is too long for the system", async () => {
    const end = await run({ command: `: ${"x".repeat(3_000_000)}` });
    expect(end).toMatchObject(failedAs("fault", expect.stringContaining("too long")));
  });

  test("a run folder that cannot be made", async () => {
    writeFileSync(join(project.dir, ".loop"), "a file");
    expect(await run({})).toMatchObject(
      failedAs("fault", expect.stringContaining("the run folder could not be prepared")),
    );
  });

  test("a ticket that cannot be written: the agent does not start", async () => {
    mkdirSync(join(project.dir, ".loop/runs/aabbccdd/aabbccdd-1/ticket.7"), { recursive: true });
    expect(await run({})).toMatchObject(
      failedAs("fault", "the agent was not started: the run folder is not writable"),
    );
    expect(existsSync(join(project.dir, "ran"))).toBe(false);
  });

  test("a run folder that the agent deletes", async () => {
    const end = await run({ command: "rm -rf .loop; echo fine" });
    expect(end).toMatchObject(failedAs("fault", expect.stringContaining("was deleted")));
  });

  test("an answer that the agent replaced by a pipe or a link is not read", async () => {
    const folder = ".loop/runs/aabbccdd/aabbccdd-1";
    const swap = `rm ${folder}/answer.txt; mkfifo ${folder}/answer.txt`;
    expect(await run({ command: swap })).toMatchObject({ kind: "failed" });
    rmSync(join(project.dir, ".loop"), { recursive: true });
    writeFileSync(join(project.dir, "secret"), "s3cret");
    const link = `rm ${folder}/answer.txt; ln -s "$PWD/secret" ${folder}/answer.txt`;
    expect(JSON.stringify(await run({ command: link }))).not.toContain("s3cret");
  });

  test.each(["..", ".", "a/b", "../../x", "", "a\nb", "a b"])(
    "H4 the id %j is not used as a path",
    async (id) => {
      for (const turn of [makeTurn({ id }), makeTurn({ loopId: id as LoopId })]) {
        expect(await run({}, turn)).toMatchObject(
          failedAs("fault", expect.stringContaining("not a valid id")),
        );
      }
      expect(existsSync(join(project.dir, "ran"))).toBe(false);
    },
  );

  test.each([".loop", ".loop/runs", ".loop/runs/aabbccdd", ".loop/runs/aabbccdd/aabbccdd-1"])(
    "H4 a link at %s that leads out of the project is not followed",
    async (place) => {
      const outside = await makeProject("outside");
      mkdirSync(join(project.dir, place, ".."), { recursive: true });
      symlinkSync(outside.dir, join(project.dir, place));
      expect(await run({})).toMatchObject(
        failedAs("fault", expect.stringMatching(/ is a link that leads out of the project$/)),
      );
      expect(existsSync(join(project.dir, "ran"))).toBe(false);
      rmSync(join(project.dir, place));
      symlinkSync(join(outside.dir, "made"), join(project.dir, place));
      expect(await run({})).toMatchObject(
        failedAs("fault", expect.stringMatching(/ is a link that leads out of the project$/)),
      );
      expect(existsSync(join(outside.dir, "made"))).toBe(false);
      await outside.remove();
    },
  );
});
