/** C and C++, make, and tools for shell scripts. */
import type { Ecosystem } from "./tool.ts";

const WORD = "[A-Za-z0-9_:.@/-]+";

export const NATIVE: Ecosystem = {
  tools: [
    {
      name: "make",
      programs: ["make", "gmake"],
      phrases: [`make ${WORD}`],
      tests: { idle: ["-n", "-h", "--just-print"], delegates: "by name" },
    },
    { name: "just", programs: ["just"], phrases: [`just ${WORD}`], tests: { delegates: "by name" } },
    {
      name: "a builder of C",
      programs: "ctest cmake meson ninja bazel bazelisk".split(" "),
      reads: { words: "subjects", roles: ["tests:c", "tests:any", "config:c", "config:make"] },
    },
    {
      name: "a compiler of C",
      programs: "gcc g++ clang clang++ cc c++ clang-tidy clang-format cppcheck".split(" "),
      reads: { words: "subjects", roles: ["config:c"] },
    },
    {
      name: "a runner of shell tests",
      programs: ["bats", "shunit2"],
      reads: { words: "tests", roles: ["tests:shell", "tests:any"] },
    },
    {
      name: "a linter of scripts",
      programs: "shellcheck shfmt hadolint yamllint actionlint".split(" "),
      reads: { words: "subjects", roles: ["config:env"] },
    },
  ],
  files: [
    ["tests:c", /(?:^tests?[_-].*|.*[_-](?:unit)?tests?)\.(?:c|cc|cpp|cxx|h|hpp)$/],
    [
      "config:c",
      /^(?:CMakeLists\.txt|CMakePresets\.json|CMakeUserPresets\.json|CTestConfig\.cmake|meson\.build|meson_options\.txt|conanfile\.(?:py|txt)|vcpkg\.json|BUILD(?:\.bazel)?|WORKSPACE(?:\.bazel)?|MODULE\.bazel|\.bazelrc|\.clang-(?:tidy|format)|configure|configure\.ac|Makefile\.am)$|\.cmake$/,
    ],
    ["config:make", /^(?:GNUmakefile|[Mm]akefile)$|\.mk$/],
    ["tests:shell", /\.bats$|[._-]test\.sh$|^test[._-].*\.sh$/],
    [
      "config:env",
      /^\.env(?!\.(?:example|sample|template|dist)$)(?:\..+)?$|^\.envrc$|^\.tool-versions$|^\.?mise(?:\.local)?\.toml$/,
    ],
    [
      "config:tasks",
      /^(?:\.?justfile|Justfile|Taskfile\.ya?ml|taskfile\.ya?ml|Earthfile|Dockerfile|docker-compose.*\.ya?ml|compose\.ya?ml|\.pre-commit-config\.yaml|lefthook\.yml|magefile\.go|SConstruct|wscript|dagger\.json)$/,
    ],
  ],
  folders: [".git", ".hg", ".svn", ".jj", ".cache", ".terraform"],
  foldersBeside: [["_build", /^dune-project$/]],
};
