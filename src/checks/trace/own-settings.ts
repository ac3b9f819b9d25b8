/**
 * Settings of programs in the person's home folder. An agent can write to them too. Only hashes are kept, because the
 * files contain secrets. Paths are written as `~/.npmrc`, or absolute outside the home folder.
 */
import { homedir } from "node:os";
import { isAbsolute, join, relative } from "node:path";
import { type FileHashes, readPlain, sha256 } from "../files/file-hash.ts";
import { targetOf } from "./found.ts";
import { GIT_SETTINGS, renderGitSettings } from "./git-config.ts";

export function ownPath(place: string): string {
  const way = relative(homedir(), place);
  return way === "" || way.startsWith("..") || isAbsolute(way) ? place : `~/${way}`;
}

/** Absolute. */
export function ownPlace(path: string): string {
  return path.startsWith("~/") ? join(homedir(), path.slice(2)) : path;
}

/** Settings that a package manager reads outside the project. */
export function packageSettings(manager: string): string[] {
  const npm = process.env.npm_config_userconfig ?? process.env.NPM_CONFIG_USERCONFIG ?? atHome(".npmrc");
  return [npm, inConfig("npm/npmrc"), ...(BESIDES[manager]?.() ?? [])].filter(isAbsolute).map(ownPath);
}

const atHome = (name: string): string => join(homedir(), name);
const inConfig = (name: string): string => join(process.env.XDG_CONFIG_HOME || atHome(".config"), name);
const BESIDES: Readonly<Record<string, () => string[]>> = {
  pnpm: () => [inConfig("pnpm/rc"), inConfig("pnpm/config.yaml")],
  yarn: () => [atHome(".yarnrc"), atHome(".yarnrc.yml")],
  bun: () => [atHome(".bunfig.toml"), inConfig(".bunfig.toml")],
};

/** The global configuration files of git. The last one wins. */
export function gitSettings(): string[] {
  const { GIT_CONFIG_GLOBAL: only } = process.env;
  return only === undefined || !isAbsolute(only) ? [inConfig("git/config"), atHome(".gitconfig")] : [only];
}

const TEXT_BYTES = 512 * 1024;

/** null: the file does not exist. */
export function hashOwn(path: string, hashes: FileHashes): string | null | Promise<string | null> {
  const isPart = path.endsWith(GIT_SETTINGS);
  const place = ownPlace(isPart ? path.slice(0, -GIT_SETTINGS.length) : path);
  // many people keep such files in a repository and link to them
  const file = targetOf(place) ?? place;
  if (!isPart) return hashes.hash(file);
  const settings = renderGitSettings(readPlain(file, TEXT_BYTES)?.toString("utf8") ?? "");
  return settings === null ? null : sha256(settings);
}
