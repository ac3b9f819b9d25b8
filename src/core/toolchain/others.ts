/** Elixir, Swift, .NET, Ruby, PHP and Dart. */
import { type Ecosystem, propose, type Tool, type ToolReading } from "./tool.ts";

const DOTNET_PROJECT = /\.(?:sln|slnx|csproj|fsproj)$/;
const RUBY: ToolReading = { words: "tests", roles: ["tests:ruby", "tests:any", "config:ruby"] };
const PHP: ToolReading = { words: "tests", roles: ["tests:php", "tests:any", "config:php"] };
const PHP_LINT: ToolReading = { words: "subjects", roles: ["config:php"] };
const COMPOSER = /^composer\.json$/;
const PHPUNIT = /^phpunit(?:\.dist)?\.xml(?:\.dist)?$/;
const PHPSTAN = /^phpstan(?:\.dist)?\.neon(?:\.dist)?$/;
const PSALM = /^psalm\.xml(?:\.dist)?$/;
const SWIFT: ToolReading = { words: "subjects", roles: ["tests:swift", "tests:any", "config:swift"] };

const ELIXIR_AND_SWIFT: readonly Tool[] = [
  {
    name: "mix",
    programs: ["mix"],
    reads: { words: "tests", roles: ["tests:elixir", "tests:any", "config:elixir"] },
    phrases: ["mix (?:test|compile)"],
    commands: [
      { topic: "test", command: "mix test", signs: [/^mix\.exs$/] },
      { topic: "build", command: "mix compile", signs: [/^mix\.exs$/] },
    ],
  },
  {
    name: "swift",
    programs: ["swift"],
    reads: SWIFT,
    phrases: ["swift (?:test|build)"],
    commands: [
      { topic: "test", command: "swift test", signs: [/^Package\.swift$/] },
      { topic: "build", command: "swift build", signs: [/^Package\.swift$/] },
    ],
  },
  { name: "another tool of Swift", programs: ["xcodebuild", "swiftlint"], reads: SWIFT },
];

const DOTNET_TOOLS: readonly Tool[] = [
  {
    name: "dotnet",
    programs: ["dotnet test"],
    reads: { words: "subjects", roles: ["tests:dotnet", "tests:any", "config:dotnet"] },
    phrases: ["dotnet test"],
    commands: [{ topic: "test", command: "dotnet test", signs: [DOTNET_PROJECT] }],
    tests: {
      idle: ["-h", "-t", "--list-tests"],
      output: {
        summary:
          /^(?:Passed|Failed)! +- Failed: +\d+, Passed: +\d+,.*$|^Test summary: total: \d+, failed: \d+.*$|^[ \t]*(?:Total tests|Passed|Failed): +\d+$/gim,
        failures: [
          /^ {2}Failed (?<name>\S.*?) \[.*\]$/gm,
          /^[ \t]+(?<name>\S.*?) \([\d.]+m?s\): Error Message: ?(?<message>.*)$/gm,
          /^[ \t]*(?<name>\S.*?)\(\d+,\d+\): (?<message>error (?:CS|FS|BC)\d+: .*?)(?: \[.*\])?$/gm,
        ],
        broken: /\(\d+,\d+\): error (?:CS|FS|BC)\d+: /gm,
      },
    },
  },
  {
    name: "dotnet",
    programs: ["dotnet", "msbuild"],
    reads: { words: "subjects", roles: ["config:dotnet"] },
    phrases: ["dotnet build"],
    commands: [
      { topic: "build", command: "dotnet build", signs: [DOTNET_PROJECT] },
      propose("lint", "dotnet format --verify-no-changes --no-restore", [DOTNET_PROJECT, /^\.editorconfig$/]),
      propose("types", "dotnet build --nologo", [DOTNET_PROJECT]),
    ],
  },
];

const WITHOUT_RSPEC = { instead: ["rspec", "rails"] };

const RUBY_TOOLS: readonly Tool[] = [
  {
    name: "rspec",
    programs: ["rspec"],
    reads: RUBY,
    files: [["config:ruby", /^\.rspec$/]],
    phrases: ["rspec"],
    through: "ruby",
    commands: [{ topic: "test", command: "bundle exec rspec", signs: [/^Gemfile$/, /^spec$/] }],
    tests: {
      idle: ["-h", "-v", "--init"],
      output: {
        summary: /^\d+ examples?, \d+ failures?.*$/gm,
        failures: [
          /^ {2}\d+\) (?<name>\S.*)\n(?:(?! {2}\d+\) ).*\n){0,30}?[ \t]+# \.\/(?<file>\S+?):\d+/gm,
          /^rspec (?:\.\/)?(?<file>\S+?)(?::\d+|\[[\d:]+\]) # (?<name>.*)$/gm,
          /^An error occurred while loading (?:\.\/)?(?<name>\S+?)\.?(?: - Did you mean\?)?$/gm,
        ],
        broken: /, \d+ errors? occurred outside of examples/gm,
      },
    },
  },
  {
    name: "rails",
    programs: ["rails test", "bin/rails test"],
    reads: RUBY,
    commands: [
      propose("test", "bin/rails test", [/^test$/, /^bin$/], {
        says: { Gemfile: /^\s*gem\s+["']rails["']/m },
        instead: ["rspec"],
      }),
    ],
  },
  {
    name: "rake",
    programs: ["rake"],
    reads: RUBY,
    phrases: ["rake test"],
    through: "ruby",
    commands: [
      propose("test", "bundle exec rake test", [/^Rakefile$/, /^test$/, /^Gemfile$/], WITHOUT_RSPEC),
      propose("test", "rake test", [/^Rakefile$/, /^test$/], WITHOUT_RSPEC),
    ],
    tests: { delegates: "by name" },
  },
  { name: "another runner of Ruby", programs: ["minitest", "cucumber", "m"], reads: RUBY },
  {
    name: "rubocop",
    programs: ["rubocop", "standardrb", "sorbet", "srb"],
    reads: { words: "subjects", roles: ["config:ruby"] },
    files: [["config:ruby", /^\.rubocop.*\.yml$/]],
    phrases: ["rubocop"],
    through: "ruby",
    commands: [{ topic: "lint", command: "bundle exec rubocop", signs: [/^\.rubocop\.yml$/] }],
  },
];

const PHP_TOOLS: readonly Tool[] = [
  {
    name: "composer",
    programs: ["composer"],
    reads: PHP,
    phrases: ["composer test"],
    commands: [
      propose("test", "composer test", [COMPOSER], { script: "test" }),
      propose("lint", "composer lint", [COMPOSER], { script: "lint" }),
    ],
    tests: { delegates: "by name" },
  },
  {
    name: "phpunit",
    programs: ["phpunit"],
    reads: PHP,
    files: [["config:php", PHPUNIT]],
    phrases: ["(?:\\./)?(?:vendor/bin/)?phpunit"],
    commands: [
      propose("test", "vendor/bin/pest", [COMPOSER, PHPUNIT], {
        says: { "composer.json": /"pestphp\/pest"/ },
        instead: ["composer"],
      }),
      propose("test", "vendor/bin/phpunit", [COMPOSER, PHPUNIT], { instead: ["composer"] }),
    ],
    tests: {
      idle: "-h --list-tests --list-suites --list-groups --generate-configuration --check-version".split(" "),
      output: {
        summary:
          /^OK \(\d+ tests?, \d+ assertions?\)$|^Tests: \d+, Assertions: \d+.*\.$|^No tests executed!$/gm,
        failures: [
          /^\d+\) (?<name>\S+::.+)$/gm,
          /^(?:PHP )?(?<message>(?:Fatal|Parse) error: .* in (?<name>\S+\.php)\b.*)$/gm,
        ],
        broken: /^(?:PHP )?(?:Fatal|Parse) error: |^No tests executed!$/gm,
      },
    },
  },
  { name: "another runner of PHP", programs: ["pest", "codecept", "behat", "artisan"], reads: PHP },
  {
    name: "phpstan",
    programs: ["phpstan"],
    reads: PHP_LINT,
    files: [["config:php", PHPSTAN]],
    commands: [propose("types", "vendor/bin/phpstan analyse --no-progress", [COMPOSER, PHPSTAN])],
  },
  {
    name: "psalm",
    programs: ["psalm"],
    reads: PHP_LINT,
    files: [["config:php", PSALM]],
    commands: [
      propose("types", "vendor/bin/psalm --no-progress", [COMPOSER, PSALM], { instead: ["phpstan"] }),
    ],
  },
  { name: "another linter of PHP", programs: ["php-cs-fixer", "phpcs", "pint"], reads: PHP_LINT },
];

export const OTHERS: Ecosystem = {
  tools: [
    ...ELIXIR_AND_SWIFT,
    ...DOTNET_TOOLS,
    ...RUBY_TOOLS,
    ...PHP_TOOLS,
    {
      name: "dart",
      programs: ["dart", "flutter"],
      reads: { words: "tests", roles: ["tests:dart", "tests:any", "config:dart"] },
    },
  ],
  files: [
    ["tests:elixir", /_test\.exs$|^test_helper\.exs$/],
    ["config:elixir", /^(?:mix\.(?:exs|lock)|\.credo\.exs|\.formatter\.exs)$/],
    ["tests:swift", /Tests?\.swift$/],
    ["config:swift", /^Package(?:@swift-.*)?\.(?:swift|resolved)$|\.xctestplan$|^\.swiftlint\.yml$/],
    ["tests:dotnet", /(?:Tests?|Specs?)\.(?:cs|fs|vb)$/],
    [
      "config:dotnet",
      /\.(?:csproj|fsproj|vbproj|sln|slnx|runsettings)$|^Directory\.(?:Build|Packages)\.(?:props|targets)$|^nuget\.config$|^global\.json$|^packages\.lock\.json$/i,
    ],
    ["tests:ruby", /_(?:spec|test)\.rb$|^test_.*\.rb$|^(?:spec|rails|test)_helper\.rb$|\.feature$/],
    [
      "config:ruby",
      /^(?:Rakefile|rakefile|Rakefile\.rb|Gemfile(?:\.lock)?|\.ruby-version|\.simplecov|cucumber\.yml)$|\.(?:gemspec|rake)$/,
    ],
    ["tests:php", /(?:Test|Cest)\.php$|\.phpt$/],
    [
      "config:php",
      /^(?:composer\.(?:json|lock)|\.php-cs-fixer(?:\.dist)?\.php|Pest\.php|codeception(?:\.dist)?\.yml)$/,
    ],
    ["tests:dart", /_test\.dart$/],
    ["config:dart", /^(?:pubspec\.(?:yaml|lock)|analysis_options\.yaml|dart_test\.yaml)$/],
  ],
  foldersBeside: [
    ["obj", /\.(?:cs|fs|vb)proj$/],
    ["vendor", /^(?:composer\.json|Gemfile)$/],
    ["_build", /^mix\.exs$/],
    ["deps", /^mix\.exs$/],
  ],
};
