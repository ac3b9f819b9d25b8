/**
 * Takes snapshots of the files of a project. With git: files that git tracks or would track. Without git: all files
 * except folders that tools fill. `.loop` is left out, because the engine changes it all the time. A link counts as its
 * text, a nested repository as its commit.
 */
import { createHash } from "node:crypto";
import { resolve } from "node:path";
import { compileGlobs } from "../../core/glob.ts";
import { isToolFolder } from "../../core/toolchain/files.ts";
import type { Snapshot, Workspace } from "../../ports/checks.ts";
import { createFileHashes, type FileHashes } from "./file-hash.ts";
import { createGitList } from "./git-files.ts";
import { createBreather, createListings, type FileListing, type Listings, walkFolders } from "./listings.ts";

/** After `gitTimeoutMs` the folders are read without git. */
export function createWorkspace(projectDir: string, gitTimeoutMs?: number): Workspace {
  const root = resolve(projectDir);
  const hashes = createFileHashes();
  const listings = createListings();
  const listByGit = createGitList(root, listings, gitTimeoutMs);
  return {
    async snapshot(except = []) {
      const tracked = await listByGit();
      const paths = tracked ?? (await walk(root, listings));
      const isExcept = except.length === 0 ? () => false : compileGlobs(except);
      const counted = paths.filter((path) => !isEngines(path) && !isExcept(path));
      return take(root, counted, tracked !== null, hashes);
    },
  };
}

function isEngines(path: string): boolean {
  return path === ".loop" || path.startsWith(".loop/");
}

async function take(
  root: string,
  paths: readonly string[],
  isGit: boolean,
  hashes: FileHashes,
): Promise<Snapshot> {
  const files = new Map<string, string>();
  const all = createHash("sha256");
  const breathe = createBreather();
  // git lists a file with a merge conflict more than once
  for (const path of [...new Set(paths)].sort()) {
    const found = hashes.hash(`${root}/${path}`);
    const hash = found instanceof Promise ? await found : found;
    if (hash !== null) {
      // git lists a nested repository with a final slash
      files.set(path.endsWith("/") ? path.slice(0, -1) : path, hash);
      all.update(`${JSON.stringify(path)} ${hash}\n`);
    }
    const pause = breathe();
    if (pause !== null) await pause;
  }
  return { hash: all.digest("hex"), files, isGit };
}

async function walk(root: string, listings: Listings): Promise<string[]> {
  const paths: string[] = [];
  const breathe = createBreather();
  const isEntered = (path: string, name: string, siblings: FileListing) =>
    !isToolFolder(name, siblings) && !isEngines(path);
  for (const { prefix, listing } of walkFolders(listings, root, isEntered)) {
    for (const name of listing.files) paths.push(prefix + name);
    const pause = breathe();
    if (pause !== null) await pause;
  }
  return paths;
}
