/**
 * How long functions are, read from the syntax tree that TypeScript itself makes of the text.
 *
 *   node scripts/function-lengths.mjs [--over 60] [file or folder …]     (default: src)
 *
 * prints `length  file:line  name`, longest first, and exits 1 when one is longer than `--over`. A function that stands
 * inside another counts for itself and as a part of the other. A class is no function; its methods are.
 */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { SyntaxKind } from "typescript/unstable/ast";
import { createVirtualFileSystem } from "typescript/unstable/fs";
import { API } from "typescript/unstable/sync";

const FUNCTIONS = new Set([
  SyntaxKind.FunctionDeclaration,
  SyntaxKind.FunctionExpression,
  SyntaxKind.ArrowFunction,
  SyntaxKind.MethodDeclaration,
  SyntaxKind.Constructor,
  SyntaxKind.GetAccessor,
  SyntaxKind.SetAccessor,
]);

/**
 * @param {ReadonlyMap<string, string>} sources path → text
 * @returns {{ name: string, file: string, line: number, length: number }[]} longest first
 */
export function functionLengths(sources) {
  const paths = [...sources.keys()].filter((path) => /\.[cm]?[jt]sx?$/.test(path));
  const inside = (path) => `/sources/${path}`;
  const files = Object.fromEntries(paths.map((path) => [inside(path), sources.get(path)]));
  // nothing but the syntax is needed: neither libraries nor what is imported
  const config = {
    compilerOptions: { allowJs: true, noLib: true, noResolve: true, types: [] },
    files: paths,
  };
  files["/sources/tsconfig.json"] = JSON.stringify(config);
  const api = new API({ cwd: "/sources", fs: createVirtualFileSystem(files) });
  try {
    const [project] = api.updateSnapshot({ openProjects: ["/sources/tsconfig.json"] }).getProjects();
    return paths
      .flatMap((path) => lengthsIn(path, project.program.getSourceFile(inside(path)), sources.get(path)))
      .sort((a, b) => b.length - a.length || a.file.localeCompare(b.file) || a.line - b.line);
  } finally {
    api.close();
  }
}

function lengthsIn(file, tree, text) {
  if (tree === undefined) throw new Error(`${file} was not read`);
  const lineAt = createLineFinder(text);
  const found = [];
  const visit = (node, owner) => {
    if (FUNCTIONS.has(node.kind) && node.body !== undefined) {
      const line = lineAt(node.getStart(tree));
      found.push({ name: nameOf(node, owner), file, line, length: lineAt(node.end) - line + 1 });
    }
    node.forEachChild((child) => visit(child, node));
  };
  visit(tree, tree);
  return found;
}

/** A function without a name has that of what it is given to. */
function nameOf(node, owner) {
  if (node.kind === SyntaxKind.Constructor) return "constructor";
  return (node.name ?? owner.name)?.getText() ?? "(anonymous)";
}

function createLineFinder(text) {
  const starts = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)];
  return (at) => {
    let [low, high] = [0, starts.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (starts[middle] <= at) low = middle;
      else high = middle;
    }
    return low + 1;
  };
}

function readSources(path) {
  if (!statSync(path).isDirectory()) return [[path, readFileSync(path, "utf8")]];
  return readdirSync(path, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.[cm]?[jt]sx?$/.test(name))
    .map((name) => [join(path, name), readFileSync(join(path, name), "utf8")]);
}

function main(args) {
  const at = args.indexOf("--over");
  const over = at === -1 ? 60 : Number(args[at + 1]);
  const given = at === -1 ? args : args.toSpliced(at, 2);
  const long = functionLengths(new Map((given.length === 0 ? ["src"] : given).flatMap(readSources))).filter(
    ({ length }) => length > over,
  );
  for (const { length, file, line, name } of long) console.log(`${length}  ${file}:${line}  ${name}`);
  return long.length === 0 ? 0 : 1;
}

if (resolve(process.argv[1] ?? "") === fileURLToPath(import.meta.url))
  process.exitCode = main(process.argv.slice(2));
