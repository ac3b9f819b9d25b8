/**
 * Cursor cannot be installed here: its hooks are asked with payloads as its documentation gives them, by the commands
 * that `loop install cursor` wrote, from the folder in which it starts a person's own hooks.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test, vi } from "vitest";
import { runHookCommand } from "../../support/claude/hook-command.ts";
import { cleanEnv, runLoop } from "../../support/cli.ts";
import { makeRepository } from "../../support/goals/goal-cli.ts";
import { goalsOf, typedGoal } from "../../support/goals/goal-in-client.ts";
import { runHere } from "../../support/here.ts";

/** Each hook is a process of its own, and the machine may be busy. */
vi.setConfig({ testTimeout: 120_000 });

const CONVERSATION = "cdefee2d-2727-4b73-bf77-d9d830f31d2a";
const OTHER = "0c5b5b0e-1111-4222-8333-944445555666";

interface Answered {
  readonly followup_message?: string;
  readonly continue?: boolean;
  readonly user_message?: string;
}

interface Cursor {
  readonly project: string;
  readonly env: Record<string, string>;
  readonly hooks: Readonly<
    Record<string, readonly { readonly command: string; readonly loop_limit?: unknown }[]>
  >;
  ask(event: string, fields: object, conversation?: string): Promise<Answered>;
  /** The agent says something and stops. */
  stop(text: string, fields?: object, conversation?: string): Promise<Answered>;
}

async function makeCursor(): Promise<Cursor> {
  const project = makeRepository();
  const env = cleanEnv(project);
  const { code } = await runLoop(["install", "cursor"], { cwd: project, env });
  expect(code).toBe(0);
  const folder = join(dirname(project), "home", ".cursor");
  const { hooks } = JSON.parse(readFileSync(join(folder, "hooks.json"), "utf8")) as Pick<Cursor, "hooks">;
  let generation = 0;
  const ask = async (event: string, fields: object, conversation = CONVERSATION): Promise<Answered> => {
    const payload = {
      conversation_id: conversation,
      generation_id: `26b45fb6-bdea-439c-b2dc-${String(++generation).padStart(12, "0")}`,
      model: "claude-sonnet-4-5",
      hook_event_name: event,
      cursor_version: "3.17.19",
      workspace_roots: [project],
      user_email: "t@localhost",
      transcript_path: null,
      ...fields,
    };
    const run = await runHookCommand(
      hooks[event]?.[0]?.command ?? "false",
      `\uFEFF${JSON.stringify(payload)}`,
      {
        cwd: folder,
        env: { ...env, CURSOR_PROJECT_DIR: project, CURSOR_VERSION: "3.17.19" },
      },
    );
    expect({ code: run.code, stderr: run.stderr }).toEqual({ code: 0, stderr: "" });
    return run.stdout === "" ? {} : (JSON.parse(run.stdout) as Answered);
  };
  return {
    project,
    env,
    hooks,
    ask,
    stop: async (text, fields = {}, conversation) => {
      await ask("afterAgentResponse", { text }, conversation);
      return ask("stop", { status: "completed", loop_count: 0, ...fields }, conversation);
    },
  };
}

const nonceIn = (text = "") => /Nonce of this turn: (\w+)/.exec(text)?.[1] ?? "";

function claim(nonce: string): string {
  return `Done.\n\n---LOOP_STATUS---\nNONCE: ${nonce}\nEXIT_SIGNAL: true\nSTEP: done\nNEXT: none\n---END_STATUS---`;
}

test("E5 D3 in Cursor the turns of a goal come as follow-up messages until it is proved; a false claim is sent back", async () => {
  const cursor = await makeCursor();
  expect(
    await cursor.ask("beforeSubmitPrompt", { prompt: `/loopwright ${typedGoal()}`, attachments: [] }),
  ).toEqual({
    continue: true,
  });
  const first = await cursor.stop("The loop begins.");
  expect(first.followup_message).toMatch(/^\[LOOP\] Goal/);
  // it may announce its own follow-ups as prompts, trimmed
  expect(
    await cursor.ask("beforeSubmitPrompt", { prompt: first.followup_message?.trim(), attachments: [] }),
  ).toEqual({ continue: true });
  const second = await cursor.stop(claim(nonceIn(first.followup_message)), { loop_count: 1 });
  expect(second.followup_message).toContain("# What is not met\n- done");
  writeFileSync(join(cursor.project, "done.txt"), "");
  expect(await cursor.stop(claim(nonceIn(second.followup_message)), { loop_count: 2 })).toEqual({});
  expect(goalsOf(cursor.project)[0]).toMatchObject({
    status: "completed",
    iteration: 2,
    end: { status: "done" },
  });
});

test("E5 D2 another conversation, an aborted turn and a message of the person's: the stop is allowed", async () => {
  const cursor = await makeCursor();
  await cursor.ask("beforeSubmitPrompt", { prompt: `/loopwright ${typedGoal()}` });
  expect(await cursor.stop("hello", {}, OTHER)).toEqual({});
  const { followup_message: turn } = await cursor.stop("The loop begins.");
  expect(turn).toContain("[LOOP]");
  expect(await cursor.ask("stop", { status: "aborted", loop_count: 1 })).toEqual({});
  expect(goalsOf(cursor.project)[0]).toMatchObject({ status: "paused" });
  expect(await cursor.ask("beforeSubmitPrompt", { prompt: "what was that?" })).toEqual({ continue: true });
  expect(await cursor.stop("A loop.")).toEqual({});
  const answered = await cursor.ask("beforeSubmitPrompt", { prompt: "/loopwright status" });
  expect(answered).toMatchObject({ continue: false });
  expect(answered.user_message).toContain("paused");
  await cursor.ask("beforeSubmitPrompt", { prompt: "/loopwright continue" });
  expect((await cursor.stop("It goes on.")).followup_message).toContain("[LOOP");
  expect((await runHere(["cancel", "--keep"], { cwd: cursor.project, env: cursor.env })).code).toBe(0);
  expect(await cursor.stop("ok")).toEqual({});
});

test("E5 D2 a prompt that the person types in the middle of a turn pauses the loop", async () => {
  const cursor = await makeCursor();
  await cursor.ask("beforeSubmitPrompt", { prompt: `/loopwright ${typedGoal()}` });
  await cursor.stop("The loop begins.");
  await cursor.ask("beforeSubmitPrompt", { prompt: "stop that, look at this first" });
  expect(goalsOf(cursor.project)[0]).toMatchObject({ status: "paused" });
  expect(await cursor.stop("I look.")).toEqual({});
});

test("E5 D2 what Cursor tells badly, or of a folder whose .loop is broken, changes nothing and lets it stop", async () => {
  const cursor = await makeCursor();
  mkdirSync(join(cursor.project, ".loop"));
  const command = cursor.hooks.stop?.[0]?.command ?? "";
  for (const payload of ["", "{", "[]", "null", '{"conversation_id": 7}', '{"conversation_id":"../../x"}']) {
    const run = await runHookCommand(command, payload, {
      cwd: cursor.project,
      env: { ...cursor.env, CURSOR_PROJECT_DIR: cursor.project },
    });
    expect(run).toEqual({ code: 0, stdout: "", stderr: "" });
  }
  rmSync(join(cursor.project, ".loop"), { recursive: true });
  writeFileSync(join(cursor.project, ".loop"), "not a folder");
  expect(await cursor.stop("hello")).toEqual({});
});

test("E5 Cursor's own limit of follow-ups is lifted in what is installed", async () => {
  const { hooks } = await makeCursor();
  expect(hooks.stop?.[0]?.loop_limit).toBeNull();
});
