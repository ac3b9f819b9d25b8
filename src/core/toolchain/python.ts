/** Python. */
import { type Ecosystem, type FileRole, propose } from "./tool.ts";

const TESTS: readonly FileRole[] = ["tests:python", "tests:any", "config:python"];
const RUN = { words: "tests", roles: TESTS } as const;
const LINT = { words: "subjects", roles: ["config:python-lint"] } as const;
const MANIFEST = /^(?:pyproject\.toml|setup\.py|setup\.cfg|tox\.ini|requirements.*\.txt)$/;

export const PYTHON: Ecosystem = {
  tools: [
    {
      name: "pytest",
      programs: ["pytest", "py.test"],
      reads: RUN,
      files: [["config:python", /^\.?pytest\.ini$|^conftest\.py$/]],
      phrases: ["pytest"],
      through: "python",
      commands: [
        { topic: "test", command: "pytest", signs: [/^(?:pytest\.ini|conftest\.py)$/] },
        { topic: "test", command: "pytest", signs: [MANIFEST, /^tests?$/] },
        propose("test", "pytest", [], {
          says: {
            "pyproject.toml": /^\[tool\.pytest[.\]]/m,
            "setup.cfg": /^\[tool:pytest\]/m,
            "tox.ini": /^\[pytest\]/m,
          },
        }),
      ],
      tests: {
        idle: ["-h", "-V", "--co", "--fixtures", "--markers", "--setup-plan", "--cache-show"],
        output: {
          summary:
            /^=*[ \t]*(?:(?:\d+ (?:failed|passed|errors?|skipped|xfailed|xpassed|deselected|warnings?|rerun|subtests passed)(?:, )?)+|no tests ran) in [\d.]+s.*$/gm,
          failures: [
            /^(?:FAILED|ERROR) (?<name>\S+\.py(?:::.+?)?)(?: - (?<message>.*))?$/gm,
            /^_{3,} (?:ERROR collecting )?(?<name>\S.*?) _{3,}\n(?:(?!E {3}|_{3}|={3}).*\n)*?E +(?<message>.*)$/gm,
            /^\w*Error while loading conftest '(?<name>.+)'\.$/gm,
          ],
          broken:
            /^!+ .*errors? during collection|^_+ ERROR collecting |^\w*Error while loading conftest |^=*[ \t]*(?:no tests ran|\d+ deselected) in |^INTERNALERROR> /gm,
        },
        report: { format: "junit", words: ["--junitxml={file}"], place: "end" },
        canary: {
          file: "test_loop_canary.py",
          text: "def test_{name}():\n    assert 1 == 2\n",
          reported: "test_{name}",
        },
      },
    },
    {
      name: "unittest",
      programs: ["unittest"],
      reads: RUN,
      phrases: ["unittest"],
      through: "python",
      tests: {
        idle: ["-h"],
        output: {
          summary: /^Ran \d+ tests? in [\d.]+s$|^(?:OK|FAILED) \((?:[a-z ]+=\d+(?:, )?)+\)$/gm,
          failures: [/^(?:FAIL|ERROR): (?<test>\S+) \((?:unittest\.loader\._FailedTest\.)?(?<name>.+?)\)/gm],
          broken: /^ERROR: \S+ \(unittest\.loader\._FailedTest|^Ran 0 tests in/gm,
        },
        report: {
          format: "lines",
          words: ["-v"],
          place: "end",
          line: /^(?<name>\S+) \(.+?\)(?:\n.+)? \.\.\. (?<result>ok|FAIL|ERROR|skipped|expected failure|unexpected success)\b/gm,
        },
        canary: {
          file: "test_loop_canary.py",
          text: "import unittest\n\n\nclass LoopCanary(unittest.TestCase):\n    def test_{name}(self):\n        self.assertEqual(1, 2)\n",
          reported: "test_{name}",
        },
      },
    },
    {
      name: "tox",
      programs: ["tox"],
      reads: RUN,
      phrases: ["tox"],
      through: "python",
      tests: { idle: ["-h", "-l", "--notest"], delegates: "always" },
    },
    {
      name: "nox",
      programs: ["nox"],
      reads: RUN,
      phrases: ["nox"],
      through: "python",
      tests: { idle: ["-h", "-l"], delegates: "always" },
    },
    { name: "another runner of Python", programs: ["nose2", "behave", "doctest"], reads: RUN },
    { name: "coverage", programs: ["coverage"], reads: { words: "rest", roles: TESTS } },
    {
      name: "ruff",
      programs: ["ruff"],
      reads: LINT,
      files: [["config:python-lint", /^\.?ruff\.toml$/]],
      phrases: ["ruff check"],
      through: "python",
      commands: [
        { topic: "lint", command: "ruff check", signs: [/^\.?ruff\.toml$/] },
        propose("lint", "ruff check", [], { says: { "pyproject.toml": /^\[tool\.ruff[.\]]/m } }),
      ],
    },
    {
      name: "flake8",
      programs: ["flake8"],
      reads: LINT,
      through: "python",
      commands: [
        propose("lint", "flake8", [/^\.flake8$/], { instead: ["ruff"] }),
        propose("lint", "flake8", [], {
          says: { "setup.cfg": /^\[flake8\]/m, "tox.ini": /^\[flake8\]/m },
          instead: ["ruff"],
        }),
      ],
    },
    {
      name: "mypy",
      programs: ["mypy"],
      reads: LINT,
      files: [["config:python-lint", /^\.?mypy\.ini$/]],
      phrases: ["mypy"],
      through: "python",
      commands: [
        { topic: "types", command: "mypy .", signs: [/^\.?mypy\.ini$/] },
        propose("types", "mypy .", [], {
          says: { "pyproject.toml": /^\[tool\.mypy[.\]]/m, "setup.cfg": /^\[mypy\]/m },
        }),
      ],
    },
    {
      name: "pyright",
      programs: ["pyright", "basedpyright"],
      reads: LINT,
      through: "python",
      commands: [
        propose("types", "pyright", [/^pyrightconfig\.json$/]),
        propose("types", "pyright", [], { says: { "pyproject.toml": /^\[tool\.pyright[.\]]/m } }),
      ],
    },
    {
      name: "another linter of Python",
      programs: "pylint black isort bandit vulture pyflakes ty".split(" "),
      reads: LINT,
    },
    {
      name: "a package manager of Python",
      programs: "pip pip3 uv poetry pdm pipenv hatch build".split(" "),
      reads: { words: "subjects", roles: ["config:python"] },
    },
  ],
  files: [
    ["tests:python", /^test_.*\.py$|_test\.py$|^conftest\.py$|^tests?\.py$/],
    [
      "config:python",
      /^(?:tox\.ini|setup\.cfg|setup\.py|pyproject\.toml|noxfile\.py|\.coveragerc|poetry\.lock|uv\.lock|uv\.toml|pdm\.lock|Pipfile(?:\.lock)?|requirements.*\.txt|constraints.*\.txt|\.python-version|sitecustomize\.py|usercustomize\.py|behave\.ini|\.behaverc|hatch\.toml|manage\.py)$/,
    ],
    [
      "config:python-lint",
      /^(?:setup\.cfg|tox\.ini|pyproject\.toml|\.flake8|\.?pylintrc(?:\.toml)?|pyrightconfig\.json|\.isort\.cfg|\.bandit|\.pre-commit-config\.yaml)$/,
    ],
  ],
  folders:
    ".venv venv __pycache__ .tox .nox .mypy_cache .pytest_cache .ruff_cache .hypothesis .eggs htmlcov".split(
      " ",
    ),
  foldersBeside: [["build", /^setup\.py$/]],
};
