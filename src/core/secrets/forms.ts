/**
 * Secrets that are known by their form alone.
 *
 * 1. Every pattern is linear: it has a fixed beginning, and its repetitions are limited or cannot overlap.
 * 2. Only a private key has more than one line (`mask-stream.ts` cuts at the end of a line).
 */

export interface Form {
  readonly name: string;
  /** Text before the secret that stays. */
  readonly keep?: string;
  readonly secret: string;
}

/** Not in the middle of a longer word. */
const START = "(?<![A-Za-z0-9])";
const KEY_NAME = "(?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----";
/** Line breaks between the lines of a key, also as the escapes of a string. */
const GAP = String.raw`(?:\\+[nrt]|[\s"'|,]){0,60}`;
/** Between a name and its value, in a header, a setting or JSON. */
const IS = String.raw`\\?["']?[ \t]{0,3}[:=][ \t]{0,3}\\?["']?`;
const HEADER = `(?:[Aa]uthorization|AUTHORIZATION)${IS}`;
/** Prose has no digits in its words. */
const WITH_DIGIT = String.raw`(?=[A-Za-z._~+/=:-]{0,200}\d)`;

export const FORMS: readonly Form[] = [
  { name: "GitHub token", secret: `${START}(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,})` },
  {
    name: "GitLab token",
    secret: String.raw`${START}gl(?:pat|oas|dt|rt|rtr|cbt|ptt|ft|imt|agent|soat|ffct)-[\w-]{20,}(?:\.[\w-]{2,})*`,
  },
  { name: "npm token", secret: `${START}npm_[A-Za-z0-9]{36,}` },
  {
    name: "Slack token",
    secret: String.raw`${START}xox[abceoprs](?:\.xox[bp])?-[\w-]{10,}|${START}xapp-\d-[\w-]{10,}`,
  },
  { name: "Slack webhook", keep: String.raw`hooks\.slack\.com\/services\/`, secret: String.raw`[\w/]{20,}` },
  { name: "AWS key", secret: `${START}(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}(?![A-Za-z0-9])` },
  {
    name: "AWS key",
    keep: `(?:aws_?secret_?access_?key|AWS_SECRET_ACCESS_KEY|[Ss]ecretAccessKey)${IS}`,
    secret: "[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+])",
  },
  {
    name: "Google key",
    secret: String.raw`${START}(?:AIza[\w-]{35}|ya29\.[\w-]{20,}|GOCSPX-[\w-]{20,})`,
  },
  { name: "Anthropic key", secret: String.raw`${START}sk-ant-[\w-]{20,}` },
  {
    name: "OpenAI key",
    secret: String.raw`${START}sk-(?:(?:proj|svcacct|admin|or-v1)-[\w-]{20,}|[A-Za-z0-9]{40,})`,
  },
  {
    name: "Stripe key",
    secret: `${START}(?:[sr]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/=]{24,})`,
  },
  {
    name: "access token",
    secret: String.raw`${START}(?:hf_[A-Za-z]{30,}|pypi-AgEI[\w-]{50,}|dckr_pat_[\w-]{20,}|SG\.[\w-]{20,24}\.[\w-]{40,})`,
  },
  {
    name: "private key",
    secret:
      `-----BEGIN ${KEY_NAME}` +
      String.raw`(?:${GAP}(?:[A-Z][A-Za-z-]{2,20}: [^\n\\]{1,100}|[A-Za-z0-9+/=]{20,}))*` +
      `(?:${GAP}[A-Za-z0-9+/=]{0,76}${GAP}-----END ${KEY_NAME})?`,
  },
  { name: "JSON web token", secret: String.raw`(?<![\w-])eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}` },
  {
    name: "authorization header",
    keep: String.raw`${HEADER}(?:[Bb]earer|[Bb]asic|[Tt]oken)[ \t]`,
    secret: String.raw`(?![a-z]+(?![\w+/=]))[A-Za-z0-9._~+/=:-]{8,}`,
  },
  { name: "authorization header", keep: HEADER, secret: `${WITH_DIGIT}[A-Za-z0-9._~+/=:-]{16,}` },
  {
    name: "api key header",
    keep: `(?:[Xx]-[Aa][Pp][Ii]-[Kk]ey|PRIVATE-TOKEN|[Pp]rivate-[Tt]oken)${IS}`,
    secret: `${WITH_DIGIT}[A-Za-z0-9._~+/=-]{8,}`,
  },
  {
    name: "bearer token",
    keep: String.raw`${START}[Bb]earer[ \t]`,
    secret: `${WITH_DIGIT}[A-Za-z0-9._~+/=-]{20,}`,
  },
  {
    name: "password",
    keep: String.raw`:\/\/[^\s/:@?#"'<>\x60]{0,200}:`,
    secret: String.raw`(?![<{$*%[])[^\s/@?#"'<>\x60\\]{3,200}(?=@)`,
  },
];
