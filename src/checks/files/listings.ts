/**
 * Owns what is in folders. A folder whose times stayed is not read again: it changes with every name that comes or
 * goes. Follows no link and must not throw: what cannot be read is empty.
 */
import { type Dirent, lstatSync, readdirSync } from "node:fs";
import { isSettled, signOf } from "./file-hash.ts";
import { decodePath, encodePath } from "./raw-path.ts";

export interface FileListing {
  /** All that is no folder: files, links, pipes. */
  readonly files: readonly string[];
  readonly folders: readonly string[];
  /** Those of the files that are links. */
  readonly links: ReadonlySet<string>;
}

export interface Listings {
  /** The same object as long as the folder stays the same. */
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
  // only then is a name possibly no UTF-8
  if (entries.some((entry) => entry.name.includes("�"))) return readBytes(folder);
  return sort(entries, (entry) => entry.name);
}

function readBytes(folder: string): FileListing {
  const entries = readdirSync(encodePath(folder), { withFileTypes: true, encoding: "buffer" });
  return sort(entries, (entry) => decodePath(entry.name));
}

interface Named {
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
}

function sort<E extends Named>(entries: readonly E[], nameOf: (entry: E) => string): FileListing {
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

/** Lets others have their turn when a piece of work has taken long enough. */
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
