/** `loop backlog run` whose runner is killed by its own agent, as a turn begins. */
import { expect, test, vi } from "vitest";
import {
  agentOf,
  besideOf,
  expectSoundRepository,
  generated,
  HONEST,
  makeBacklog,
  runArgs,
  type StoryWish,
  storiesOf,
  trust,
} from "../../support/backlog/backlog-cli.ts";
import { runLoop } from "../../support/cli.ts";

vi.setConfig({ testTimeout: 120_000 });

const TWO: readonly StoryWish[] = [
  { n: 1, dependsOn: [] },
  { n: 2, dependsOn: [1] },
];

test.each([1, 2])(
  "H1 a runner that dies as a turn begins loses no turn, with --parallel %i",
  async (parallel) => {
    const cwd = makeBacklog({ stories: TWO, check: (n) => `test -e src/f${n}.mjs` });
    await trust(cwd);
    const killer = `
if [ "$LOOP_ROLE" = generator ] && mkdir "$BESIDE/killed-$LOOP_STORY" 2>/dev/null; then
  kill -9 "$(sed -n 's/.*"pid": *\\([0-9]*\\).*/\\1/p' "$PROJECT/.loop/loop.lock")"
fi
${HONEST}`;
    const options = besideOf(cwd, { PROJECT: cwd });
    const args = runArgs(agentOf(cwd, killer), "--parallel", String(parallel));
    const died = await runLoop([...args, "--json"], options);
    expect(died.code, died.stderr).toBeNull();
    let last = await runLoop([...args, "--json", "--resume"], options);
    if (last.code === null) last = await runLoop([...args, "--json", "--resume"], options);
    expect(last.code, last.stdout + last.stderr).toBe(0);
    expect(generated(cwd)).toEqual(["US-001", "US-002"]);
    expect(storiesOf(cwd).map(({ passes, rejections }) => [passes, rejections])).toEqual([
      [true, 0],
      [true, 0],
    ]);
    expectSoundRepository(cwd);
  },
);
