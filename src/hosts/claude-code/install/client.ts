/** Runs `claude plugin …`, without a shell. */
import { execFile } from "node:child_process";
import * as z from "zod";
import { runVersion } from "../../../agents/capabilities/program-version.ts";
import { LoopError } from "../../../errors.ts";
import { type Looked, lookForProgram, withInterpreter } from "../../../system/find-program.ts";
import { MARKETPLACE, PLUGIN_ID } from "./places.ts";

const PATIENCE_MS = 60_000;
const VERSION_WITHIN_MS = 10_000;
const MOST_BYTES = 16 * 1024 * 1024;

type PluginVerb = "install" | "update" | "enable" | "uninstall";

const plugin = z
  .object({
    id: z.string(),
    scope: z.string().catch("user"),
    enabled: z.boolean().catch(false),
    installPath: z.string().catch(""),
    readFromFolder: z.string().nullable().catch(null),
    projectPath: z.string().nullable().catch(null),
  })
  .transform(({ installPath, readFromFolder, projectPath, ...rest }) => ({
    ...rest,
    /** The folder that the client loads: the source folder or the client's copy. */
    folder: readFromFolder ?? installPath,
    /** The project, for a project installation. */
    project: projectPath,
  }));
const marketplace = z.object({
  name: z.string(),
  source: z.string().catch(""),
  path: z.string().nullable().catch(null),
});

export type InstalledPlugin = Readonly<z.output<typeof plugin>>;

export function lookForClient(env: NodeJS.ProcessEnv): Looked {
  return lookForProgram(process.platform === "win32" ? "claude.exe" : "claude", env, process.cwd());
}

export async function clientVersion(claude: string, env: NodeJS.ProcessEnv): Promise<string | null> {
  return (await runVersion(claude, ["--version"], env, VERSION_WITHIN_MS)).version;
}

export class PluginClient {
  readonly #claude: string;
  readonly #env: NodeJS.ProcessEnv;

  constructor(claude: string, env: NodeJS.ProcessEnv) {
    this.#claude = claude;
    this.#env = env;
  }

  /** The plugins of all scopes and all projects. */
  async plugins(project: string): Promise<readonly InstalledPlugin[]> {
    return parse(z.array(plugin), await this.#run(["list", "--json"], project));
  }

  async marketplace(project: string): Promise<z.output<typeof marketplace> | null> {
    const list = parse(z.array(marketplace), await this.#run(["marketplace", "list", "--json"], project));
    return list.find(({ name }) => name === MARKETPLACE) ?? null;
  }

  /** Writes the person's own settings, because a path of this machine does not belong in a project. */
  async addMarketplace(folder: string, project: string): Promise<void> {
    await this.#run(["marketplace", "add", folder], project);
  }

  async removeMarketplace(project: string): Promise<void> {
    await this.#run(["marketplace", "remove", MARKETPLACE], project);
  }

  /** The plugin runs from its folder anyway; `update` updates the version that the client shows. */
  async change(verb: PluginVerb, scope: string, project: string): Promise<void> {
    await this.#run([verb, PLUGIN_ID, "--scope", scope], project);
  }

  #run(words: readonly string[], cwd: string): Promise<string> {
    const args = ["plugin", ...words];
    const options = { cwd, env: this.#env, timeout: PATIENCE_MS, maxBuffer: MOST_BYTES };
    const [program, ...rest] = withInterpreter([this.#claude, ...args], this.#env, cwd);
    return new Promise((resolve, reject) => {
      const child = execFile(program, rest, options, (error, stdout, stderr) => {
        if (error === null) return resolve(stdout);
        const said = [stderr, stdout].map((text) => text.trim()).find((text) => text !== "");
        const why = said ?? (error.killed ? `no answer within ${PATIENCE_MS / 1000} s` : error.message);
        reject(
          new LoopError("surroundings", `claude ${args.join(" ")} failed: ${why}`, "See: loop doctor", error),
        );
      });
      child.stdin?.end();
    });
  }
}

function parse<T>(schema: z.ZodType<T>, text: string): T {
  try {
    return schema.parse(JSON.parse(text));
  } catch (error) {
    throw new LoopError(
      "surroundings",
      "Cannot read the plugin list that claude printed.",
      "See: claude plugin list --json",
      error,
    );
  }
}
