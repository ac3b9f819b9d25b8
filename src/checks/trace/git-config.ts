/** The configuration of git, as far as it decides what a command of git runs or shows. */

/** After the name of such a file: not all of it, but the settings that count. */
export const GIT_SETTINGS = "#settings";

export interface GitSetting {
  /** `alias.checks`, `filter.clean-up.smudge`; of section and key in lower case. */
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

/** Without quotes and comments, as git reads it. */
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

/** What runs programs, hides changes, or draws in other files; not who somebody is and where branches come from. */
const COUNTED =
  /^(?:alias|filter|diff|merge|mergetool|difftool|pager|include|includeif|url|interactive|gpg|init|protocol|status|submodule)\.|^core\.(?:hookspath|fsmonitor|pager|attributesfile|excludesfile|worktree|sshcommand|editor|askpass|gitproxy|autocrlf|eol|sparsecheckout)$/;

/** null: none that counts. */
export function renderGitSettings(text: string): string | null {
  const counted = parseGitConfig(text).filter(({ name }) => COUNTED.test(name));
  return counted.length === 0 ? null : counted.map(({ name, value }) => `${name}=${value}\n`).join("");
}
