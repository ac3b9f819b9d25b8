/**
 * Which values of the environment are secret. A value counts when its name says so and its shape allows it, or when it
 * looks random whatever its name. Words, numbers, paths and plain addresses never count: to mask them would damage
 * ordinary output.
 */

export interface Secret {
  readonly name: string;
  /** One line, at least `LEAST_LENGTH` characters. */
  readonly value: string;
}

export const LEAST_LENGTH = 8;
const LEAST_RANDOM = 24;
const LEAST_PASSPHRASE = 16;

/** Words of a name that announce a secret: `GITHUB_TOKEN`, `npm_config__authToken`, `PGPASSWORD`. */
const SECRET_WORD =
  /^(?:\w*(?:TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|APIKEY|CREDENTIAL)S?|KEYS?|PASS|SSHPASS|PWD|AUTH|CREDS?|JWT|PAT|BEARER|COOKIE|SALT|DSN|SIGNATURE)$/;
const PASSPHRASE_WORD = /^(?:\w*(?:PASSWORD|PASSWD|PASSPHRASE|SECRET)|PASS|SSHPASS|PWD)$/;
/** The last word of a name that only describes a secret, or has nothing to do with one. */
const HARMLESS_END =
  /^(?:\w*PATH|DIRS?|HOME|FILES?|SOCK|SOCKET|NAME|ID|USER|USERNAME|EMAIL|HOST|HOSTNAME|PORT|URL|URI|ENDPOINT|ADDRESS|REGION|TYPE|MODE|METHOD|FORMAT|PROVIDER|ALGORITHM|STORE|BACKEND|HEADER|PREFIX|VERSION|TTL|TIMEOUT|EXPIRES|LENGTH|LIMIT|COUNT|PID|TTY|COLORS|SHA|REF|TAG|AGENT)$/;
const HARMLESS_NAME =
  /^(?:LOOP_|LC_|XDG_|npm_(?:package|lifecycle)_)|^(?:_|PWD|OLDPWD|TERM|LANG|SHELL|DISPLAY|GPG_KEY)$/;

export function secretsIn(env: Readonly<Record<string, string | undefined>>): readonly Secret[] {
  const found = new Map<string, Secret>();
  // in the order of the names, so that a value with two names always reads the same
  for (const name of Object.keys(env).sort()) {
    for (const value of valuesOf(name, env[name] ?? ""))
      if (!found.has(value)) found.set(value, { name, value });
  }
  return [...found.values()];
}

function valuesOf(name: string, text: string): readonly string[] {
  if (text.length < LEAST_LENGTH || HARMLESS_NAME.test(name)) return [];
  const password = /^[a-z][a-z0-9+.-]*:\/\/[^\s/:@]*:([^\s/@]+)@/i.exec(text)?.[1];
  if (password !== undefined) return isSecretShape(password, true) ? [password] : [];
  const words = name
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2")
    .toUpperCase()
    .split(/[^A-Z0-9]+/);
  if (HARMLESS_END.test(words.at(-1) ?? "")) return [];
  const value = text.trim();
  if (!words.some((word) => SECRET_WORD.test(word))) return isRandom(value) ? [value] : [];
  const isPassphrase = words.some((word) => PASSPHRASE_WORD.test(word));
  // a key of several lines is found line by line, however the output indents it
  const lines = value.split(/[\r\n]+/).map((line) => line.trim());
  return lines.filter((line) => isSecretShape(line, isPassphrase));
}

function isSecretShape(value: string, isPassphrase: boolean): boolean {
  if (value.length < LEAST_LENGTH || new Set(value).size < 5) return false;
  if (/^[\d\s.,:+/_-]+$/.test(value) || /^(?:[<${%*]|-----)/.test(value)) return false;
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(value) || isPath(value)) return false;
  return !isWords(value) || (isPassphrase && value.length >= LEAST_PASSPHRASE);
}

/** Letters of one case, with separators. A long piece is no word. */
function isWords(value: string): boolean {
  const pieces = value.split(/[-_. ,:]+/).filter((piece) => piece !== "");
  return pieces.every((piece) => piece.length <= 16 && /^(?:[A-Z]?[a-z]+|[A-Z]+)$/.test(piece));
}

function isPath(value: string): boolean {
  // a base64 text may start with a slash too, but it has few of them
  const isBase64 = /^[A-Za-z0-9+/]{32,}={0,2}$/.test(value) && value.split("/").length <= value.length / 16;
  return /^(?:[.~]{0,2}\/|[A-Za-z]:[\\/])|^[\w.-]+(?:\/[\w.-]+)+\.\w{1,5}$/.test(value) && !isBase64;
}

/** A long text without spaces that mixes cases and digits, as no word, path, version or hash does. */
function isRandom(value: string): boolean {
  if (value.length < LEAST_RANDOM || !/^[\w+/=~.-]+$/.test(value) || isPath(value)) return false;
  const isMixed = /[a-z]/.test(value) && /[A-Z]/.test(value) && /\d/.test(value);
  return isMixed && value.split(/[./-]/).length <= 3 && bitsPerCharacter(value) >= 3.8;
}

function bitsPerCharacter(value: string): number {
  const counts = new Map<string, number>();
  for (const letter of value) counts.set(letter, (counts.get(letter) ?? 0) + 1);
  return [...counts.values()].reduce((sum, count) => {
    const share = count / value.length;
    return sum - share * Math.log2(share);
  }, 0);
}
