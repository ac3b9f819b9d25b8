/** What is typed reaches the command line program word by word; here that is one which says what it was given. */
import { existsSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { typedIn } from "../../../src/hosts/claude-code/hooks/to-event.ts";
import { carryOutTyped, type TypedParts } from "../../../src/hosts/conversation/typed.ts";
import { removeTempDirs, tempDir } from "../../store/fixtures/temp-dir.ts";

afterEach(removeTempDirs);

const ECHO = `const { LOOP_SESSION, LOOP_COMMAND_NAME, LOOP_TYPED, NO_COLOR, EXTRA } = process.env;
const env = { LOOP_SESSION, LOOP_COMMAND_NAME, LOOP_TYPED, NO_COLOR, EXTRA };
process.stdout.write(JSON.stringify({ argv: process.argv.slice(2), cwd: process.cwd(), ...env }));`;

function program(source: string): TypedParts {
  const root = tempDir();
  const path = join(root, "program.cjs");
  writeFileSync(path, source);
  const env = { ...process.env, EXTRA: "kept" };
  return { command: [process.execPath, path], root, session: "s-1", env, commandName: "$loop" };
}

async function argvOf(typed: string): Promise<readonly string[]> {
  const { text } = await carryOutTyped(typed, program(ECHO));
  return (JSON.parse(text) as { argv: readonly string[] }).argv;
}

describe("A3 which prompts are for us", () => {
  test.each([
    ["/loopwright", ""],
    ["/loopwright list", "list"],
    ["/loopwright:loop 5m check", "5m check"],
    ["/loopwright:loopwright status", "status"],
    ["  /loopwright:loop\n5m\n  check  ", "5m\n  check"],
    ["/loop 5m check", null],
    ["/loopwrighty list", null],
    ["/loopwright:other list", null],
    ["say /loopwright list", null],
    ["loopwright list", null],
    ["", null],
  ])("%j: %j", (prompt, typed) => {
    expect(typedIn(prompt)).toBe(typed);
  });
});

describe("A3 what is typed is carried out by the command itself", () => {
  test.each<readonly [string, readonly string[]]>([
    ["5m check the deploy", ["--detach", "--", "5m check the deploy"]],
    ["--no-now 5m -v is\n a `prompt`", ["--detach", "--no-now", "--", "5m -v is\n a `prompt`"]],
    ["list", ["list"]],
    ["delete a1b2", ["delete", "a1b2"]],
    [
      'until "npm test passes" fix it --budget 5',
      ["until", "--detach", "npm test passes", "fix it", "--budget", "5"],
    ],
    ["continue --budget=5", ["continue", "--detach", "--budget=5"]],
    ["run a1b2", ["run", "--detach", "a1b2"]],
    ["pause", ["pause"]],
    ["", ["help"]],
  ])("%j is loop %j", async (typed, argv) => {
    expect(await argvOf(typed)).toEqual(argv);
  });

  test("H5 there is no shell: what looks like one's words is text", async () => {
    const parts = program(ECHO);
    const typed = '5m $(touch ran.txt) `touch ran.txt`; touch ran.txt\n"; touch ran.txt';
    const { text } = await carryOutTyped(typed, parts);
    expect(JSON.parse(text)).toMatchObject({ argv: ["--detach", "--", typed] });
    expect(existsSync(join(parts.root, "ran.txt"))).toBe(false);
  });

  test("it runs in the project, and knows the conversation that it was typed in and what was typed there", async () => {
    const parts = program(ECHO);
    const { text } = await carryOutTyped("list", parts);
    expect(JSON.parse(text)).toMatchObject({
      ...{
        cwd: realpathSync(parts.root),
        LOOP_SESSION: "s-1",
        LOOP_COMMAND_NAME: "$loop",
        LOOP_TYPED: "1",
        NO_COLOR: "1",
        EXTRA: "kept",
      },
    });
  });

  test.each(["up", "watch", "install claude", "hook claude Stop", "mcp"])(
    "`%s` works only in a terminal",
    async (typed) => {
      const carried = await carryOutTyped(typed, program("throw new Error('started')"));
      expect(carried).toMatchObject({ isOk: false, mayGoOn: false });
      expect(carried.text).toMatch(/works only in a terminal/);
    },
  );
});

describe("D1 what comes of it", () => {
  test.each<readonly [string, string, boolean, boolean]>([
    ["until it works", "", true, true],
    ["continue", "", true, true],
    ["approve", "", true, true],
    ["pause", "", true, false],
    ["5m check", "", true, false],
    ["continue", "process.exitCode = 64;", false, false],
  ])("%j with %j: ok %s, and a loop may go on from here: %s", async (typed, source, isOk, mayGoOn) => {
    expect(await carryOutTyped(typed, program(source))).toMatchObject({ isOk, mayGoOn });
  });

  test("both outputs are shown, the end of a failure too, and silence with a failure is explained", async () => {
    const both = "process.stdout.write('out\\n\\n'); process.stderr.write('err\\n'); process.exitCode = 64;";
    expect((await carryOutTyped("list", program(both))).text).toBe("out\nerr");
    expect((await carryOutTyped("list", program("process.exitCode = 1;"))).text).toMatch(
      /^loop: the command could not be run/,
    );
    expect((await carryOutTyped("list", program(""))).text).toBe("");
    const missing = { ...program(""), command: ["/does/not/exist"] as const };
    expect(await carryOutTyped("list", missing)).toMatchObject({
      isOk: false,
      text: expect.stringMatching(/ENOENT/),
    });
  });

  test("it has no input to wait for, and what it says is cut", async () => {
    const reads =
      "process.stdin.on('data', () => {}); process.stdin.on('end', () => console.log('x'.repeat(50000)));";
    const { text } = await carryOutTyped("list", program(reads));
    expect(text).toHaveLength(20_000);
  });
});
