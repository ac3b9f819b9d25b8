/**
 * Owns the listings of folders. A folder is read again only when its times change, because every new or removed name
 * changes them. Follows no link and must not throw: a folder that cannot be read is empty.
 */
import { type Dirent, lstatSync, readdirSync } from "node:fs";
import { isSettled, signOf } from "./file-hash.ts";
import { decodePath, encodePath } from "./raw-path.ts";

export interface FileListing {
  /** Everything except folders: files, links, pipes. */
  readonly files: readonly string[];
  readonly folders: readonly string[];
  /** The files that are links. */
  readonly links: ReadonlySet<string>;
}

export interface Listings {
  /** Returns the same object until the folder changes. */
  list(folder: string): FileListing;
}

const EMPTY: FileListing = { files: [], folders: [], links: new Set() };

export function createListings(now: () => number = Date.now): Listings {
  const known = new Map<string, { readonly sign: string; readonly listing: FileListing }>();
  return {
    list(folder) {
      try {
        const stat = lstatSync(encodePath(folder), { bigint: true });
        const sign = signOf(stat);
        const before = known.get(folder);
        if (before?.sign === sign) return before.listing;
        const listing = stat.isDirectory() ? read(folder) : EMPTY;
        if (isSettled(stat, now())) known.set(folder, { sign, listing });
        else known.delete(folder);
        return listing;
      } catch {
        known.delete(folder);
        return EMPTY;
      }
    },
  };
}

function read(folder: string): FileListing {
  const entries: Dirent[] = readdirSync(encodePath(folder), { withFileTypes: true });
  // a name with this character may not be UTF-8
  if (entries.some((entry) => entry.name.includes("�"))) return readBytes(folder);
  return sort(entries, (entry) => entry.name);
}

function readBytes(folder: string): FileListing {
  const entries = readdirSync(encodePath(folder), { withFileTypes: true, encoding: "buffer" });
  return sort(entries, (entry) => decodePath(entry.name));
}

type EntryKind = Pick<Dirent, "isDirectory" | "isSymbolicLink">;

function sort<E extends EntryKind>(entries: readonly E[], nameOf: (entry: E) => string): FileListing {
  const files: string[] = [];
  const folders: string[] = [];
  const links = new Set<string>();
  for (const entry of entries) {
    const name = nameOf(entry);
    (entry.isDirectory() ? folders : files).push(name);
    if (entry.isSymbolicLink()) links.add(name);
  }
  return { files, folders, links };
}

interface WalkedFolder {
  /** Relative to the root; empty for the root. */
  readonly folder: string;
  /** Empty, or the folder with a final `/`. */
  readonly prefix: string;
  readonly listing: FileListing;
}

/** Walks the folders below a root. The caller sees a folder before `isEntered` decides about its folders. */
export function* walkFolders(
  listings: Listings,
  root: string,
  isEntered: (path: string, name: string, siblings: FileListing) => boolean,
  start = "",
): Generator<WalkedFolder> {
  const open = [start];
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    const prefix = folder === "" ? "" : `${folder}/`;
    const listing = listings.list(folder === "" ? root : `${root}/${folder}`);
    yield { folder, prefix, listing };
    for (const name of listing.folders) if (isEntered(prefix + name, name, listing)) open.push(prefix + name);
  }
}

/** Returns a promise when the work should pause so that other work can run. */
export function createBreather(sliceMs = 10): () => Promise<void> | null {
  let since = performance.now();
  return () => {
    if (performance.now() - since < sliceMs) return null;
    return new Promise((done) =>
      setImmediate(() => {
        since = performance.now();
        done();
      }),
    );
  };
}
