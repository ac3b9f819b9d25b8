/**
 * Lists the files of the project with their roles. Git's index is not used, because an agent can write it. Folders that
 * did not change are not read again.
 */

import { isToolFolder, rolesOf, rolesOfLink } from "../../core/toolchain/files.ts";
import type { FileRole } from "../../core/toolchain/tool.ts";
import { createBreather, type FileListing, type Listings, walkFolders } from "../files/listings.ts";
import type { IgnoreRules } from "../protection/ignore-rules.ts";

export interface ProjectFile {
  readonly path: string;
  readonly roles: readonly FileRole[];
  readonly isLink: boolean;
}

export interface ProjectTree {
  readonly files: readonly ProjectFile[];
  /** Every package.json. */
  readonly manifests: readonly string[];
}

/** The listing of a folder is the same object until the folder changes. */
const KNOWN = new WeakMap<FileListing, { readonly folder: string; readonly files: readonly ProjectFile[] }>();

/** Leaves out folders that tools fill, folders that git ignored at the start, and `.loop`. */
export async function readTree(root: string, listings: Listings, ignore: IgnoreRules): Promise<ProjectTree> {
  const files: ProjectFile[] = [];
  const manifests: string[] = [];
  const breathe = createBreather();
  const isEntered = (path: string, name: string, siblings: FileListing) =>
    path !== ".loop" && !isToolFolder(name, siblings) && !ignore.isIgnored(path, true);
  for (const { folder, prefix, listing } of walkFolders(listings, root, isEntered)) {
    ignore.enter(folder);
    for (const file of classify(listing, prefix)) {
      files.push(file);
      if (file.path === `${prefix}package.json`) manifests.push(file.path);
    }
    const pause = breathe();
    if (pause !== null) await pause;
  }
  return { files: files.filter((file) => !isOutput(file, ignore)), manifests };
}

/** An ignored test file was written by the tests. An ignored configuration, such as `.env`, still counts. */
function isOutput({ path, roles }: ProjectFile, ignore: IgnoreRules): boolean {
  return (
    !roles.some((role) => role.startsWith("config:")) && roles.length > 0 && ignore.isIgnored(path, false)
  );
}

/** Keeps all files: `--protect` can name any of them. */
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
