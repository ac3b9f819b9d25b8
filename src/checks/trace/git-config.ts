/** The part of the git configuration that decides what a git command runs or shows. */

/** Suffix of a path: only the settings that count, not the whole file. */
export const GIT_SETTINGS = "#settings";

export interface GitSetting {
  /** `alias.checks`, `filter.clean-up.smudge`; section and key are in lower case. */
  readonly name: string;
  readonly value: string;
}

export function parseGitConfig(text: string): GitSetting[] {
  const settings: GitSetting[] = [];
  let section = "";
  for (const line of text.replaceAll(/\\\r?\n/g, "").split("\n")) {
    const [, name, quoted, rest = ""] =
      /^\s*\[\s*([\w.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\](.*)$/.exec(line) ?? [];
    if (name !== undefined)
      section = name.toLowerCase() + (quoted === undefined ? "" : `.${quoted.replaceAll(/\\(.)/g, "$1")}`);
    const [, key, value] = /^\s*([A-Za-z][\w-]*)\s*(?:=(.*))?$/.exec(name === undefined ? line : rest) ?? [];
    if (key !== undefined)
      settings.push({ name: `${section}.${key.toLowerCase()}`, value: readRaw(value ?? "true") });
  }
  return settings;
}

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", b: "\b" };

/** Removes quotes and comments as git does. */
function readRaw(raw: string): string {
  let value = "";
  let isQuoted = false;
  const text = raw.trim();
  for (let at = 0; at < text.length; at++) {
    const character = text[at] ?? "";
    if (character === '"') isQuoted = !isQuoted;
    else if (character === "\\") {
      const next = text[++at] ?? "";
      value += ESCAPES[next] ?? next;
    } else if (!isQuoted && /[#;]/.test(character)) return value.trimEnd();
    else value += character;
  }
  return value;
}

/** Settings that run programs, hide changes or include files. Names of people and remotes do not count. */
const COUNTED =
  /^(?:alias|filter|diff|merge|mergetool|difftool|pager|include|includeif|url|interactive|gpg|hook|init|lfs|protocol|status|submodule)\.|^core\.(?:hookspath|fsmonitor|pager|attributesfile|excludesfile|worktree|sshcommand|editor|askpass|gitproxy|autocrlf|eol|sparsecheckout)$/;

/** null: no setting counts. */
export function renderGitSettings(text: string): string | null {
  const counted = parseGitConfig(text).filter(({ name }) => COUNTED.test(name));
  return counted.length === 0 ? null : counted.map(({ name, value }) => `${name}=${value}\n`).join("");
}
