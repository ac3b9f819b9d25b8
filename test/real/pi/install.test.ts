/** The extension as pi gets it: by `loop install pi`, and out of the package itself. */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { folderOf, installPi, uninstallPi } from "../../../src/hosts/pi/install.ts";
import { isWorldMissing, whyWorldMissing } from "../../support/agents/worlds.ts";
import { leftovers } from "../../support/cli.ts";
import { makePiWorld, openPi, PACKAGE, PI_VERSIONS, type PiWorld } from "../../support/pi-tui.ts";
import { hasTmux } from "../../support/tmux.ts";

const TEST_MS = 90_000;

describe.each(PI_VERSIONS)("E2 the extension in %s", (version) => {
  describe.skipIf(isWorldMissing(version))(`installed${whyWorldMissing(version)}`, () => {
    test.skipIf(!hasTmux)(
      "E2 install puts a whole copy where it stays and tells pi; again it changes nothing; uninstall takes it all back",
      async () => {
        const world = await makePiWorld(version, { settings: { packages: [] } });
        const { env, project } = world;
        const folder = folderOf(env);
        expect(await installPi(env)).toMatchObject({
          folder,
          copied: true,
          clientVersion: expect.stringMatching(/^0\./),
        });
        expect(packagesOf(world)).toHaveLength(1);
        expect(await installPi(env)).toMatchObject({ copied: false });
        expect(packagesOf(world)).toHaveLength(1);
        const pi = await openPi(world);
        await pi.type("/loop list");
        await pi.sees(/No loops here/);
        expect(await pi.exit()).toBe(0);
        // pi was not asked to write anything into the project
        expect(readdirSync(project)).toEqual([".git", "check.sh"]);

        expect(await uninstallPi(env)).toEqual({ removed: [`the extension in ${folder}`], kept: [] });
        expect(packagesOf(world)).toEqual([]);
        expect(existsSync(folder)).toBe(false);
        expect(await uninstallPi(env)).toEqual({ removed: [], kept: [] });
        expect(leftovers(project)).toEqual([]);
      },
      TEST_MS,
    );

    test(
      "E2 a copy that was changed is put right; where pi has it from npm, nothing is done",
      async () => {
        const world = await makePiWorld(version, { settings: { packages: [] } });
        const { env } = world;
        await installPi(env);
        writeFileSync(join(folderOf(env), "extension.cjs"), "broken(");
        expect(await installPi(env)).toMatchObject({ copied: true });
        await uninstallPi(env);
        writeFileSync(settingsOf(world), JSON.stringify({ packages: [{ source: "npm:loopwright@1.0.0" }] }));
        await expect(installPi(env)).rejects.toThrow("pi already has Loopwright, from npm:loopwright@1.0.0.");
        expect(existsSync(folderOf(env))).toBe(false);
      },
      TEST_MS,
    );

    test("E2 without pi on the PATH it is said, and nothing is written", async () => {
      const world = await makePiWorld(version, { settings: { packages: [] } });
      const env = { ...world.env, PATH: "/usr/bin:/bin" };
      await expect(installPi(env)).rejects.toThrow("pi is not on the PATH.");
      expect(existsSync(dirname(folderOf(env)))).toBe(false);
    });

    test(
      "E2 the package itself is one that pi installs: from its tarball, with nothing else of the checkout",
      async () => {
        const world = await makePiWorld(version, { settings: { packages: [] } });
        const { env, project } = world;
        const base = dirname(project);
        execFileSync("tar", ["-xzf", packed(base), "-C", base]);
        const folder = join(base, "package");
        execFileSync(world.world.programs.pi ?? "", ["install", folder], { env, cwd: project });
        const { stderr, status } = asked(world, "/loop list");
        expect({ stderr, status }).toEqual({ stderr: expect.stringContaining("No loops here"), status: 0 });
        expect(leftovers(project)).toEqual([]);
      },
      TEST_MS,
    );
  });
});

function settingsOf({ world }: PiWorld): string {
  return join(world.home, ".pi", "agent", "settings.json");
}

function packagesOf(world: PiWorld): readonly unknown[] {
  return JSON.parse(readFileSync(settingsOf(world), "utf8")).packages;
}

/** As `npm publish` would send it, of what is built. */
function packed(base: string): string {
  const args = ["pack", "--ignore-scripts", "--silent", "--pack-destination", base];
  const name = execFileSync("npm", args, { cwd: PACKAGE, encoding: "utf8" }).trim().split("\n").at(-1) ?? "";
  return join(base, name);
}

/** `pi -p`: nobody is there, and it ends with its answer. */
function asked({ world, env, project }: PiWorld, text: string) {
  return spawnSync(world.programs.pi ?? "", ["-p", text], { env, cwd: project, encoding: "utf8" });
}
