/** Generators and evaluators as real processes: no story passes that its checks do not prove on the files at the end. */
import { describe, type TestContext, test } from "vitest";
import { HONEST_AGENTS } from "../../corpus/backlog-honest.ts";
import { BACKLOG_LIARS } from "../../corpus/backlog-liars.ts";
import { expectKeptOut, expectPassed } from "../../corpus/expect-backlog.ts";

describe.concurrent("C5 C6 C7 C8 C9 no story passes that its checks do not prove on the final tree", () => {
  for (const liar of BACKLOG_LIARS)
    test(
      liar.open === undefined ? `C5 ${liar.name}` : `C5 gets through still: ${liar.name}`,
      async ({ onTestFinished }: TestContext) => {
        await expectKeptOut(liar, onTestFinished);
      },
    );
});

describe.concurrent("C3 C4 C5 C7 C13 stories of honest agents pass in the least number of iterations", () => {
  for (const agents of HONEST_AGENTS)
    test(`C5 ${agents.name}`, async ({ onTestFinished }: TestContext) => {
      await expectPassed(agents, onTestFinished);
    });
});
