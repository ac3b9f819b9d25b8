/** Secrets for tests. Tokens are put together here, so that no scanner takes this file for a leak. */
import fc from "fast-check";
import { createMask } from "../../src/core/secrets/mask.ts";
import { type Secret, secretsIn } from "../../src/core/secrets/secret-env.ts";

function token(...parts: readonly string[]): string {
  return parts.join("");
}

const LETTERS = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hI6kL9nO2qR5tU8wX1zA4cD7fG0iJ3l";
const BODY = [LETTERS, LETTERS, LETTERS.slice(0, 30)].join("\n");

interface Known {
  readonly name: string;
  readonly text: string;
  /** The part of the text that must go. */
  readonly secret: string;
}

function whole(name: string, ...parts: readonly string[]): Known {
  return { name, text: token(...parts), secret: token(...parts) };
}

function inside(name: string, before: string, secret: string, after = ""): Known {
  return { name, text: `${before}${secret}${after}`, secret };
}

/** One for each form. */
export const KNOWN: readonly Known[] = [
  whole("GitHub token", "gh", "p_", LETTERS.slice(0, 36)),
  whole("GitHub token", "gh", "s_", LETTERS.slice(0, 40)),
  whole("GitHub token", "github", "_pat_", LETTERS.slice(0, 22), "_", LETTERS.slice(0, 59)),
  whole("GitLab token", "gl", "pat-", LETTERS.slice(0, 20)),
  whole("GitLab token", "gl", "cbt-", LETTERS.slice(0, 26), ".01.1a2b3c4d5"),
  whole("npm token", "np", "m_", LETTERS.slice(0, 36)),
  whole("Slack token", "xo", "xb-", "123456789012-", LETTERS.slice(0, 24)),
  whole("Slack token", "xa", "pp-", "1-A0123-", LETTERS.slice(0, 24)),
  inside("Slack webhook", "https://hooks.slack.com/services/", `T0001/B0002/${LETTERS.slice(0, 24)}`),
  whole("AWS key", "AK", "IA", "QRSTUVWXYZ234567"),
  inside("AWS key", "aws_secret_access_key = ", `wJ/+${LETTERS.slice(0, 36)}`),
  inside("AWS key", '"SecretAccessKey": "', `wJ/+${LETTERS.slice(0, 36)}`, '"'),
  whole("Google key", "AI", "za", LETTERS.slice(0, 35)),
  whole("Google key", "ya", "29.", LETTERS),
  whole("Anthropic key", "sk", "-ant-", "api03-", LETTERS),
  whole("OpenAI key", "sk", "-proj-", LETTERS),
  whole("OpenAI key", "sk", "-", LETTERS.slice(0, 48)),
  whole("Stripe key", "sk", "_live_", LETTERS.slice(0, 24)),
  whole("Stripe key", "rk", "_test_", LETTERS.slice(0, 24)),
  whole("access token", "h", "f_", "abcdefghijklmnopqrstuvwxyzABCDEFGH"),
  whole("private key", "-----BEGIN RSA PRIVATE", " KEY-----\n", BODY, "\n-----END RSA PRIVATE", " KEY-----"),
  whole(
    "private key",
    "-----BEGIN OPENSSH PRIVATE",
    " KEY-----\n",
    BODY,
    "\n-----END OPENSSH PRIVATE",
    " KEY-----",
  ),
  whole(
    "private key",
    ...[
      "-----BEGIN PRIVATE",
      " KEY-----\\n",
      BODY.replaceAll("\n", "\\n"),
      "\\n-----END PRIVATE",
      " KEY-----",
    ],
  ),
  whole("private key", "-----BEGIN PRIVATE", " KEY-----\n", LETTERS),
  whole("JSON web token", "ey", "JhbGciOiJIUzI1NiJ9.ey", "JzdWIiOiIxMjM0NSJ9.", LETTERS.slice(0, 43)),
  inside("authorization header", "Authorization: Bearer ", "abc12345"),
  inside("authorization header", "authorization: Basic ", "dXNlcjpwYXNz"),
  inside("authorization header", '"Authorization": "token ', LETTERS.slice(0, 20), '"'),
  inside("authorization header", "Authorization: ", LETTERS.slice(0, 20)),
  inside("api key header", "x-api-key: ", LETTERS.slice(0, 20)),
  inside("bearer token", "Bearer ", LETTERS.slice(0, 24)),
  inside("password", "postgres://app:", "pw7", "@db.example/app"),
];

const RANDOM_VALUE = fc
  .string({ unit: fc.constantFrom(...`${LETTERS}"\\/$%&üé -_.`), minLength: 8, maxLength: 40 })
  .map((text) => `${text.trim()}x9`);

/** What `secretsIn` finds in an environment of random tokens. */
export const ENV_SECRETS: fc.Arbitrary<readonly Secret[]> = fc
  .array(RANDOM_VALUE, { minLength: 1, maxLength: 4 })
  .map((values) => secretsIn(Object.fromEntries(values.map((value, index) => [`T${index}_TOKEN`, value]))))
  .filter((secrets) => secrets.length > 0 && isClear(secrets));

/** No value that the labels themselves contain. */
function isClear(secrets: readonly Secret[]): boolean {
  const labels = secrets.map((secret) => createMask([secret]).text(secret.value)).join("");
  return secrets.every(({ value }) => !labels.includes(value));
}

/** Text around secrets: lines, words, starts of tokens, and known tokens. */
export const surroundings: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: fc.constantFrom(...'ab9 \n:="\\-_./@ü'), maxLength: 20 }),
  fc.constantFrom(
    "\n",
    "Bearer ",
    "Authorization: ",
    "://u:",
    "@",
    "-----BEGIN PRIVATE KEY-----\n",
    "sk-",
    "gh",
  ),
  fc.constantFrom(...KNOWN.map(({ text }) => text)),
);
