/** Build tools that run tests: which of their words say so. */
import type { DelegatingRunner, DirectRunner } from "./run.ts";
import { type Invocation, isIdle, scriptCertainty } from "./script-names.ts";

const TARGETS: Readonly<Record<string, DelegatingRunner>> = {
  make: "make",
  gmake: "make",
  just: "just",
  composer: "composer",
  rake: "rake",
  turbo: "turbo",
  nx: "nx",
};

/** Build tools: what they run is said by the words behind them. */
export function buildToolInvocation(program: string, args: readonly string[]): Invocation | null {
  const words = args.filter((word) => !/^[-+]/.test(word) && !word.includes("="));
  const [command = ""] = words;
  const run = (runner: DirectRunner, isCertain = true): Invocation | null =>
    isIdle(runner, args) ? null : { runner, isDelegating: false, isCertain };
  switch (program) {
    case "go":
      return (args[0] === "-C" ? args[2] : args[0]) === "test" ? run("go") : null;
    case "cargo":
      if (command === "nextest") return ["run", "r"].includes(words[1] ?? "") ? run("nextest") : null;
      return command === "test" || command === "t" ? run("cargo") : null;
    case "dotnet":
      return command === "test" ? run("dotnet") : null;
    case "mvn":
    case "mvnw":
    case "mvnd":
      if (words.some((word) => /^(?:test|verify|integration-test|surefire:test|failsafe:\S+)$/.test(word))) {
        return run("maven");
      }
      return words.some((word) => /^(?:package|install|deploy)$/.test(word)) ? run("maven", false) : null;
    case "gradle":
    case "gradlew":
      return gradle(args, run);
    case "tox":
    case "nox":
      return isIdle(program, args) ? null : { runner: program, isDelegating: true, isCertain: true };
  }
  const runner = Object.hasOwn(TARGETS, program) ? TARGETS[program] : undefined;
  return runner === undefined ? null : targets(runner, args, words);
}

function gradle(
  args: readonly string[],
  run: (runner: DirectRunner, isCertain?: boolean) => Invocation | null,
): Invocation | null {
  const tasks = args.filter(
    (word, i) => !word.startsWith("-") && !["-x", "--tests", "-p"].includes(args[i - 1] ?? ""),
  );
  const leftOut = args.filter((_, i) => ["-x", "--exclude-task"].includes(args[i - 1] ?? ""));
  if (leftOut.some((word) => /(?:^|:)test$/.test(word))) return null;
  if (tasks.some((task) => /(?:^|:)(?:test\w*|\w+Test\w*|check)$/.test(task))) return run("gradle");
  return tasks.some((task) => /(?:^|:)build$/.test(task)) ? run("gradle", false) : null;
}

function targets(
  runner: DelegatingRunner,
  args: readonly string[],
  words: readonly string[],
): Invocation | null {
  if (isIdle(runner, args)) return null;
  const names = words.filter((word) => word !== "run" && word !== "run-script");
  const certainties = names.flatMap((name) => scriptCertainty(name) ?? []);
  if (certainties.length === 0) return null;
  return { runner, isDelegating: true, isCertain: certainties.includes("certain") };
}
