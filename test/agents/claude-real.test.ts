/**
 * The real Claude Code against a scripted model on loopback: no key, no network. `npm run test:claude` installs
 * the client into a cache first; LOOP_TEST_CLAUDE=required makes its absence a failure.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createClaudeAgent } from "../../src/agents/claude-cli.ts";
import { makeControl, makeProject, makeTurn, type Project } from "../fixtures/agents/project.ts";
import { type Reply, type ScriptedModel, startScriptedModel } from "../support/scripted-model.ts";
import { until } from "../support/until.ts";

const executable = clientPath();
const isMissing = !existsSync(executable);
const isRequired = process.env.LOOP_TEST_CLAUDE === "required";
const why = isMissing ? ` (no client at ${executable}: npm run test:claude)` : "";

function clientPath(): string {
  const lock = readFileSync(fileURLToPath(new URL("../clients/claude/package-lock.json", import.meta.url)));
  const hash = createHash("sha256").update(lock).digest("hex").slice(0, 16);
  const { LOOPWRIGHT_CLIENTS, XDG_CACHE_HOME } = process.env;
  const cache = LOOPWRIGHT_CLIENTS || join(XDG_CACHE_HOME || join(homedir(), ".cache"), "loopwright-clients");
  return join(cache, `claude-${hash}`, "node_modules/.bin/claude");
}

test.skipIf(!isRequired)("the client is there when it is required", () => {
  if (isMissing)
    throw new Error(
      `Claude Code is required (LOOP_TEST_CLAUDE) and not at ${executable}: npm run test:claude`,
    );
});

describe.skipIf(isMissing)(`the real Claude Code (E3)${why}`, () => {
  let project: Project;
  let model: ScriptedModel | undefined;
  beforeEach(async () => {
    project = await makeProject(`it's a "project"`);
  });
  afterEach(async () => {
    await model?.close();
    model = undefined;
    await project.remove();
  });

  async function claude(reply: Reply) {
    model = await startScriptedModel(reply);
    const [home, config, temporary] = ["home", "config", "tmp"].map((name) => join(project.dir, "..", name));
    for (const folder of [home, config, temporary]) mkdirSync(folder ?? "");
    const env = {
      PATH: process.env.PATH,
      HOME: home,
      CLAUDE_CONFIG_DIR: config,
      TMPDIR: temporary,
      CLAUDE_CODE_TMPDIR: temporary,
      ANTHROPIC_API_KEY: "sk-ant-dummy-test-key",
      ANTHROPIC_BASE_URL: model.url,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_AUTOUPDATER: "1",
      CLAUDE_CODE_MAX_RETRIES: "0",
    };
    return { agent: createClaudeAgent({ executable, projectDir: project.dir, env }), prompts: model.prompts };
  }

  test("gets the prompt and gives the answer, with its cost", async () => {
    const { agent, prompts } = await claude({ kind: "text", text: "deploy is green" });
    const end = await agent.run(makeTurn(), makeControl());
    expect(end).toEqual({
      kind: "ok",
      answer: "deploy is green",
      usage: { costUsd: expect.any(Number), inputTokens: 1_000, outputTokens: 50 },
    });
    expect(end.kind === "ok" ? end.usage?.costUsd : 0).toBeGreaterThan(0);
    expect(prompts).toEqual([expect.stringContaining("check the deploy")]);
  });

  test.each([
    [529, "overloaded_error"],
    [500, "api_error"],
  ])("B13 an API error %i is a failure that names it", async (status, type) => {
    const { agent } = await claude({ kind: "error", status, type, message: "scripted trouble" });
    const end = await agent.run(makeTurn(), makeControl());
    expect(end).toMatchObject({
      kind: "failed",
      reason: expect.stringContaining(`claude: api error ${status}: `),
    });
  });

  test("cancelled in mid-turn it leaves no process", async () => {
    const { agent, prompts } = await claude({ kind: "silence" });
    const control = makeControl();
    const end = agent.run(makeTurn(), control);
    await until(() => prompts.length > 0, "the model was asked");
    expect(project.processes()).not.toEqual([]);
    control.abort();
    expect(await end).toEqual({ kind: "cancelled" });
    expect(project.processes()).toEqual([]);
  });
});
