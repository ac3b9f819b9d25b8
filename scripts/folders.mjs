/**
 * The table of folders in docs/design.md, made from the source tree: `npm run folders` writes it, a test compares it.
 * Each folder says in one line what it holds; the count shows when a room gets crowded.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const page = join(root, "docs/design.md");
const BEGIN = "<!-- folders: npm run folders -->";
const END = "<!-- /folders -->";

/** Folder and number of TypeScript files, in the order of their names. */
export function countFiles(folder = join(root, "src")) {
  const entries = readdirSync(folder, { withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && entry.name.endsWith(".ts")).length;
  const below = entries
    .filter((entry) => entry.isDirectory())
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => countFiles(join(folder, entry.name)));
  return [...(files === 0 ? [] : [[relative(root, folder), files]]), ...below];
}

export function renderTable() {
  const rows = countFiles().map(([folder, files]) => `| \`${folder}\` | ${files} |`);
  return [BEGIN, "| folder | files |", "|---|---|", ...rows, END].join("\n");
}

/** The page with a table that is true now. */
export function withTable(text) {
  const [from, to] = [text.indexOf(BEGIN), text.indexOf(END)];
  if (from === -1 || to < from) throw new Error(`docs/design.md has no ${BEGIN} … ${END}`);
  return `${text.slice(0, from)}${renderTable()}${text.slice(to + END.length)}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const before = readFileSync(page, "utf8");
  const after = withTable(before);
  if (after !== before) writeFileSync(page, after);
  console.log(
    after === before ? "docs/design.md is up to date" : "docs/design.md has a new table of folders",
  );
}
