/** Parses `--check 'name=command'` and its other forms (B6). The table of kinds parses the part after `=`. */
import { type Invalid, invalid } from "../base.ts";
import type { Criterion } from "../checks/check.ts";
import { parseCheck } from "../checks/kinds.ts";

/** The caller checks whether the name is taken. */
export function parseCheckFlag(
  text: string,
): { readonly kind: "ok"; readonly criterion: Criterion } | Invalid {
  const at = text.indexOf("=");
  if (at === -1) return invalid(`--check '${quote(text)}' has no "="; ${FORM}.`);
  const name = text.slice(0, at).trim();
  if (/[<>!]$/.test(name)) return invalid(missingCommand(text, name));
  const fault = faultOfName(name);
  if (fault !== null) return invalid(`--check '${quote(text)}': ${fault}; ${FORM}.`);
  const check = parseCheck(text.slice(at + 1).trim());
  if (typeof check === "string") return invalid(`--check ${quote(name)}: ${check}.`);
  return { kind: "ok", criterion: { name, check, source: "flag" } };
}

/** What is wrong with the name of a criterion; null: nothing. */
export function faultOfName(name: string): string | null {
  if (name === "") return "the name is empty";
  if ([...name].length > MAX_NAME) return `the name has more than ${MAX_NAME} characters`;
  if (/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u.test(name)) return "the name has invisible characters";
  // names are keys of objects in state.json
  if (name === "__proto__") return "the name __proto__ cannot be used";
  return null;
}

const MAX_NAME = 60;
const FORM = "write --check 'name=command'";

function missingCommand(text: string, name: string): string {
  const bare = name.slice(-200).replace(/[<>!\s]+$/, "") || "coverage";
  const target = text.slice(text.indexOf("=") + 1).trim() || "80";
  const sign = `${name.at(-1) ?? ">"}=`;
  return `--check '${quote(text)}' has no command that prints the number; write --check '${quote(bare)}=npm run -s cov ${sign} ${quote(target)}'.`;
}

/** On one line, and short enough for a sentence. */
function quote(text: string): string {
  const line = text.replaceAll(/[\s\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu, " ").trim();
  const letters = [...line];
  return letters.length > 60 ? `${letters.slice(0, 60).join("")}…` : line;
}
