/**
 * How many tests ran, by the summary that runners print at their end. Code that is tested may end the process of its
 * own tests, or leave some out, and the exit code is 0 all the same; their number tells.
 */

/** One per runner; each match is one summary, and `run` of it the numbers that add up to the tests that ran. */
const SUMMARIES: readonly RegExp[] = [
  // node --test: `# tests 12`, `ℹ tests 12`
  /^(?:#|ℹ) tests (?<total>\d+)$/gm,
  // jest: `Tests:  1 failed, 2 skipped, 9 passed, 12 total`; vitest: `Tests  1 failed | 11 passed (12)`
  /^\s*Tests:?\s.*?(?:(?<total>\d+) total|\((?<of>\d+)\))\s*$/gm,
  // mocha: `11 passing (2s)`, `1 failing`
  /^\s*(?<run>\d+) (?:passing|failing)\b/gm,
  // pytest: `=== 1 failed, 11 passed in 0.12s ===`
  /^=*\s*(?<list>(?:\d+ (?:failed|passed|errors?|skipped|xfailed|xpassed|deselected|warnings?)(?:, )?)+) in [\d.]+s/gm,
  // cargo: `test result: ok. 11 passed; 1 failed; 0 ignored`
  /^test result: \w+\. (?<list>\d+ passed; \d+ failed)/gm,
  // RSpec: `12 examples, 1 failure`; PHPUnit: `Tests: 12, Assertions: 20` and `OK (12 tests, 20 assertions)`
  /^(?<total>\d+) examples?, \d+ failures?/gm,
  /^(?:OK \((?<total>\d+) tests?|Tests: (?<of>\d+), Assertions)/gm,
  // Maven, dotnet: `Tests run: 12, Failures: 0`, `Total tests: 12`
  /^.*?\bTests run: (?<total>\d+), Failures: \d+(?!.*Time elapsed)/gm,
  /^\s*Total tests: (?<total>\d+)/gm,
];

/** null: nothing that is known. Several summaries of one kind (workspaces, crates) are added up. */
export function countTests(output: string): number | null {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are no part of the words
  const plain = output.slice(-20_000).replaceAll(/\u001b\[[0-9;]*m/g, "");
  for (const summary of SUMMARIES) {
    const found = [...plain.matchAll(summary)].map(({ groups = {} }) => countOf(groups));
    if (found.length > 0) return found.reduce((sum, count) => sum + count, 0);
  }
  return null;
}

function countOf(groups: Record<string, string | undefined>): number {
  const { total, of, run, list } = groups;
  if (list === undefined) return Number(total ?? of ?? run ?? 0);
  const ran = list.matchAll(/(\d+) (?:failed|passed|errors?|xfailed|xpassed)/g);
  return [...ran].reduce((sum, [, count]) => sum + Number(count), 0);
}
