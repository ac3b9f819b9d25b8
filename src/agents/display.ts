/** How paths and texts of agents are shown to a person: short, on one line. */
import { isAbsolute, relative, sep } from "node:path";
import { currentMask } from "../system/secrets.ts";

const LINE_LENGTH = 200;

/** One line without control characters, at most 200 characters. */
export function foldLine(text: string): string {
  // before it is cut: half a secret is not recognised
  const line = currentMask()
    .text(text.slice(0, 4_000))
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, " ");
  return Array.from(line.trim()).slice(0, LINE_LENGTH).join("");
}

/** A path inside the project becomes relative, with `/`. Other paths stay unchanged. */
export function shortenPath(path: string, projectDir: string): string {
  const way = isAbsolute(path) ? relative(projectDir, path) : path;
  return way === "" || way === ".." || way.startsWith(`..${sep}`) || isAbsolute(way)
    ? path
    : way.split(sep).join("/");
}
