/**
 * Folders that tools fill. People do not write there, so without git, which would know, they do not count; and no
 * check finds its tests there. `build`, `out` and `bin` are not among them: too many projects keep scripts there.
 */
import type { Listing } from "./files/listings.ts";

const FILLED_BY_TOOLS: ReadonlySet<string> = new Set([
  ".git",
  ".hg",
  ".svn",
  ".jj",
  "node_modules",
  "bower_components",
  ".venv",
  "venv",
  "__pycache__",
  ".tox",
  ".nox",
  ".mypy_cache",
  ".pytest_cache",
  ".ruff_cache",
  ".hypothesis",
  ".eggs",
  ".cache",
  ".parcel-cache",
  ".turbo",
  ".nx",
  ".next",
  ".nuxt",
  ".svelte-kit",
  ".gradle",
  ".terraform",
  ".nyc_output",
  "coverage",
  "dist",
  "htmlcov",
]);

/** Folders with names that people use too, and the files beside them by which one can tell. */
const FILLED_BESIDE: ReadonlyMap<string, RegExp> = new Map([
  ["target", /^(?:Cargo\.toml|pom\.xml|build\.sbt|project\.clj)$/],
  ["build", /^(?:build\.gradle(?:\.kts)?|setup\.py)$/],
  ["obj", /\.(?:cs|fs|vb)proj$/],
  ["vendor", /^(?:go\.mod|composer\.json|Gemfile)$/],
  ["_build", /^(?:mix\.exs|dune-project)$/],
  ["deps", /^mix\.exs$/],
]);

export function isToolFolder(name: string, beside: Listing): boolean {
  if (FILLED_BY_TOOLS.has(name) || name.endsWith(".egg-info")) return true;
  const sign = FILLED_BESIDE.get(name);
  return sign !== undefined && beside.files.some((file) => sign.test(file));
}
