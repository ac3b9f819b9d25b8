/** E1 the built plugin in the real Claude Code: taken, loaded, and gone again. See claude-client.ts for what it needs. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test, vi } from "vitest";
import { doctorCommand } from "../../../src/cli/setup/doctor.ts";
import { installCommand } from "../../../src/cli/setup/install.ts";
import { uninstallCommand } from "../../../src/cli/setup/uninstall.ts";
import type { Finding } from "../../../src/hosts/conversation/finding.ts";
import {
  CLAUDE,
  expectClaude,
  isClaudeMissing,
  isClaudeRequired,
  whyMissing,
} from "../../support/claude/claude-client.ts";
import { runClaude } from "../../support/claude/claude-headless.ts";
import { listen, type Machine, makeMachine } from "../../support/claude/fake-claude.ts";
import { startScriptedModel } from "../../support/claude/scripted-model.ts";
import { makeProject } from "../../support/cli.ts";

const BUILT = fileURLToPath(new URL("../../../dist/plugins", import.meta.url));
const TEST_MS = 120_000;

vi.mock("../../../src/version.ts", async () => {
  const { default: manifest } = await import("../../../package.json", { with: { type: "json" } });
  return { VERSION: manifest.version };
});

/** A fresh person's machine with the real client. */
function makeRealMachine(): Machine {
  const machine = makeMachine(null);
  symlinkSync(CLAUDE, join(machine.bin, "claude"));
  vi.stubEnv("DISABLE_AUTOUPDATER", "1");
  vi.stubEnv("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
  return machine;
}

/** What the client itself leaves behind of plugins that are gone. */
function withoutEmpty(text: string): unknown {
  const settings = JSON.parse(text) as Record<string, unknown>;
  for (const name of ["enabledPlugins", "extraKnownMarketplaces"])
    if (JSON.stringify(settings[name]) === "{}") delete settings[name];
  return settings;
}

test.skipIf(!isClaudeRequired)("the client is there when it is required", expectClaude);

describe.skipIf(isClaudeMissing)(`E1 the plugin in Claude Code${whyMissing}`, () => {
  test.each([BUILT, join(BUILT, "claude-code")])(
    "E1 the client finds nothing wrong with %s",
    (folder) => {
      const { status, stdout, stderr } = spawnSync(join(CLAUDE), ["plugin", "validate", folder], {
        encoding: "utf8",
        env: { ...process.env, HOME: makeMachine(null).home },
      });
      expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
      expect(stdout).toContain("Validation passed");
      expect(stdout).not.toMatch(/Found \d+ (?:error|warning)/);
    },
    TEST_MS,
  );

  test.each(["user", "project"] as const)(
    "E1 installed for the %s, loaded, and taken away: settings are as they were",
    async (scope) => {
      const machine = makeRealMachine();
      const { project, config } = machine;
      const settings =
        scope === "user" ? join(config, "settings.json") : join(project, ".claude/settings.json");
      const local = join(project, ".claude/settings.local.json");
      mkdirSync(join(project, ".claude"));
      for (const file of [settings, local]) writeFileSync(file, '{\n    "env": { "MINE": "1" }\n}\n');

      for (const cap of [true, false]) {
        const io = listen();
        expect(await installCommand("claude", { project, scope, cap, json: true }, io)).toBe(0);
        expect(io.parsed()).toMatchObject({ cap: cap ? "written" : "not asked for", notes: [] });
      }
      const doctor = listen();
      expect(await doctorCommand({ project, json: true }, doctor)).toBe(0);
      const { findings } = doctor.parsed() as { findings: Finding[] };
      expect(findings.filter(({ state }) => state !== "ok")).toEqual([]);

      const io = listen();
      expect(await uninstallCommand("claude", { project, json: true }, io)).toBe(0);
      expect(io.parsed()).toMatchObject({ kept: [] });
      expect(withoutEmpty(readFileSync(settings, "utf8"))).toEqual({ env: { MINE: "1" } });
      if (scope === "user") expect(readFileSync(local, "utf8")).toBe('{\n    "env": { "MINE": "1" }\n}\n');
      expect(existsSync(join(machine.home, ".local/share/loopwright"))).toBe(false);
    },
    TEST_MS,
  );

  test(
    "E1 A3 what is typed is answered by the plugin, and no model is asked",
    async () => {
      const project = makeProject();
      const model = await startScriptedModel({ kind: "text", text: "never said" });
      const pluginDir = join(dirname(project), "plugin");
      symlinkSync(join(BUILT, "claude-code"), pluginDir);
      const run = await runClaude(project, ["/loopwright:loop list"], { model, pluginDir });
      await model.close();
      expect(run).toMatchObject({ exitCode: 0, stderr: "" });
      expect(run.result?.result).toMatch(/operation blocked by hook/);
      expect(model.prompts).toEqual([]);
    },
    TEST_MS,
  );
});
