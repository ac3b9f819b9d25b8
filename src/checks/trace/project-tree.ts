/**
 * The files of the project that can belong to a check by their names. Git's index is not asked: what an agent can
 * write decides nothing here. What stayed the same is not looked at again.
 */

import { isToolFolder, rolesOf, rolesOfLink } from "../../core/toolchain/files.ts";
import type { FileRole } from "../../core/toolchain/tool.ts";
import { createBreather, type FileListing, type Listings } from "../files/listings.ts";
import type { IgnoreRules } from "../protection/ignore-rules.ts";

export interface ProjectFile {
  readonly path: string;
  readonly roles: readonly FileRole[];
  readonly isLink: boolean;
}

export interface ProjectTree {
  readonly files: readonly ProjectFile[];
  /** All package.json. */
  readonly manifests: readonly string[];
}

/** By the listing of a folder, which stays the same object as long as the folder does. */
const KNOWN = new WeakMap<FileListing, { readonly folder: string; readonly files: readonly ProjectFile[] }>();

/** Without the folders that tools fill, those that git ignored at the start, and `.loop`. */
export async function readTree(root: string, listings: Listings, ignore: IgnoreRules): Promise<ProjectTree> {
  const files: ProjectFile[] = [];
  const manifests: string[] = [];
  const breathe = createBreather();
  const open = [""];
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    const prefix = folder === "" ? "" : `${folder}/`;
    const listing = listings.list(folder === "" ? root : `${root}/${folder}`);
    ignore.enter(folder);
    for (const file of classify(listing, prefix)) {
      files.push(file);
      if (file.path === `${prefix}package.json`) manifests.push(file.path);
    }
    for (const name of listing.folders) {
      const path = prefix + name;
      if (path !== ".loop" && !isToolFolder(name, listing) && !ignore.isIgnored(path, true)) open.push(path);
    }
    const pause = breathe();
    if (pause !== null) await pause;
  }
  return { files: files.filter((file) => !isOutput(file, ignore)), manifests };
}

/** A configuration counts also where git ignores it, as it does `.env`; what is ignored among tests was written by them. */
function isOutput({ path, roles }: ProjectFile, ignore: IgnoreRules): boolean {
  return (
    !roles.some((role) => role.startsWith("config:")) && roles.length > 0 && ignore.isIgnored(path, false)
  );
}

/** All files: `--protect` can mean any of them. */
function classify(listing: FileListing, prefix: string): readonly ProjectFile[] {
  const known = KNOWN.get(listing);
  if (known?.folder === prefix) return known.files;
  const files = listing.files.map((name) => {
    const path = prefix + name;
    const isLink = listing.links.has(name);
    return { path, roles: isLink ? rolesOfLink(path) : rolesOf(path), isLink };
  });
  KNOWN.set(listing, { folder: prefix, files });
  return files;
}
