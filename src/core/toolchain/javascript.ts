/** JavaScript and TypeScript: package managers, linters, compilers and builders. */
import { JAVASCRIPT_TESTS } from "./javascript-tests.ts";
import type { Ecosystem, Tool, ToolReading } from "./tool.ts";

const WORD = "[A-Za-z0-9_:.@/-]+";
const SCRIPT = `run(?: -s| --silent)? ${WORD}`;
const BY_NAME = { delegates: "by name" } as const;

const packageManager = (name: string, locks: readonly string[], test = "test"): Tool => ({
  name,
  programs: [name],
  locks,
  phrases: [`${name} ${test}`, `${name} ${SCRIPT}`],
  tests: BY_NAME,
});

const PACKAGE_MANAGERS: readonly Tool[] = [
  packageManager("pnpm", ["pnpm-lock.yaml"]),
  { ...packageManager("yarn", ["yarn.lock"]), programs: ["yarn", "yarnpkg"] },
  packageManager("bun", ["bun.lock", "bun.lockb"]),
  packageManager("npm", ["package-lock.json", "npm-shrinkwrap.json"], "(?:test|t)"),
  { name: "turbo", programs: ["turbo"], tests: BY_NAME },
  { name: "nx", programs: ["nx"], tests: BY_NAME },
];

const LINT: ToolReading = { words: "subjects", roles: ["config:js-lint", "config:ts", "config:packages"] };
const TYPES: ToolReading = { words: "subjects", roles: ["config:ts", "config:packages"] };
const BUILD: ToolReading = {
  words: "subjects",
  roles: ["config:js-build", "config:ts", "config:babel", "config:packages"],
};
const ESLINT = /^(?:eslint\.config\.[cm]?[jt]s|\.eslintrc(?:\.(?:json|[cm]?js|ya?ml))?)$/;

const OTHERS: readonly Tool[] = [
  {
    name: "eslint",
    programs: ["eslint"],
    reads: LINT,
    files: [["config:js-lint", /^(?:\.eslintrc(?:\..+)?|\.eslintignore|eslint\.config\.[cm]?[jt]s)$/]],
    phrases: ["eslint"],
    through: "node",
    commands: [
      { topic: "lint", command: "eslint .", signs: [ESLINT] },
      { topic: "eslint", command: "eslint .", signs: [] },
    ],
  },
  {
    name: "biome",
    programs: ["biome"],
    reads: LINT,
    files: [["config:js-lint", /^biome\.jsonc?$/]],
    phrases: ["biome (?:check|lint|ci)"],
    through: "node",
    commands: [{ topic: "lint", command: "biome lint", signs: [/^biome\.jsonc?$/] }],
  },
  {
    name: "prettier",
    programs: ["prettier"],
    reads: LINT,
    files: [["config:js-lint", /^(?:\.prettierrc(?:\..+)?|\.prettierignore|prettier\.config\.[cm]?[jt]s)$/]],
    phrases: ["prettier --check"],
    through: "node",
    commands: [
      {
        topic: "format",
        command: "prettier --check .",
        signs: [/^\.prettierrc(?:\.\w+)?$|^prettier\.config\.[cm]?[jt]s$/],
      },
    ],
  },
  {
    name: "another linter of JavaScript",
    programs: "stylelint oxlint xo standard tslint knip madge depcruise markdownlint markdownlint-cli2"
      .split(" ")
      .concat("next lint", "ng lint"),
    reads: LINT,
    files: [
      [
        "config:js-lint",
        /^(?:\.stylelintrc(?:\..+)?|\.stylelintignore|stylelint\.config\.[cm]?js|\.oxlintrc\.json|tslint\.json|\.editorconfig|\.jshintrc|\.xo-config.*|knip\.(?:json|ts)|\.dependency-cruiser\.[cm]?js|\.markdownlint.*)$/,
      ],
    ],
  },
  {
    name: "tsc",
    programs: ["tsc"],
    reads: TYPES,
    phrases: ["tsc"],
    through: "node",
    commands: [
      { topic: "tsc", command: "tsc --noEmit", signs: [] },
      { topic: "types", command: "tsc --noEmit", signs: [/^tsconfig\.json$/] },
    ],
  },
  { name: "vue-tsc", programs: ["vue-tsc"], reads: TYPES, phrases: ["vue-tsc"], through: "node" },
  { name: "types of JavaScript", programs: ["svelte-check", "tsgo", "attw", "publint"], reads: TYPES },
  {
    name: "a builder of JavaScript",
    programs: "webpack rollup vite esbuild tsup tsdown swc parcel rspack gulp grunt size-limit"
      .split(" ")
      .concat("next build", "nuxt build", "ng build", "astro build", "astro check", "remix build"),
    reads: BUILD,
  },
];

export const JAVASCRIPT: Ecosystem = {
  tools: [...JAVASCRIPT_TESTS, ...PACKAGE_MANAGERS, ...OTHERS],
  files: [
    [
      "tests:js",
      /[._](?:test|tests|spec|e2e|cy|bench|test-d)\.[cm]?[jt]sx?$|-test\.[cm]?[jt]sx?$|^test(?:-.*)?\.[cm]?[jt]sx?$|\.snap$|\.feature$/,
    ],
    [
      "config:packages",
      /^(?:\.npmrc|\.yarnrc(?:\.yml)?|\.pnpmfile\.c?js|\.pnp\.(?:cjs|loader\.mjs)|pnpm-workspace\.yaml|bunfig\.toml|package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|yarn\.lock|bun\.lockb?|\.nvmrc|\.node-version)$/,
    ],
    ["config:ts", /^[tj]sconfig(?:\..+|-.+)?\.json$/],
    ["config:babel", /^(?:babel\.config\.(?:[cm]?[jt]s|json)|\.babelrc(?:\.(?:[cm]?js|json))?|\.swcrc)$/],
    [
      "config:js-build",
      /^(?:(?:webpack|rollup|vite|tsup|tsdown|next|nuxt|svelte|astro|esbuild|rspack|rsbuild|metro|postcss|tailwind|remix|quasar)\.config(?:\..+)?\.(?:[cm]?[jt]s|json)|angular\.json|\.parcelrc|gulpfile\.[cm]?[jt]s|Gruntfile\.[cj]s)$/,
    ],
    ["config:monorepo", /^(?:turbo|nx|lerna|rush)\.json$|^workspace\.json$|^project\.json$/],
  ],
  paths: [["config:packages", /(?:^|\/)\.yarn\/(?:releases|plugins|patches)\//]],
  folders:
    "node_modules bower_components .parcel-cache .turbo .nx .next .nuxt .svelte-kit .nyc_output coverage dist".split(
      " ",
    ),
};
