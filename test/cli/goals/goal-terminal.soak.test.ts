/** What a terminal shows while a goal waits for the reset of a quota. */
import { expect, test } from "vitest";
import { installClaude, makeRepository, SPEC, stateOf } from "../../support/goals/goal-cli.ts";
import { hasTmux, openTerminal } from "../../support/tmux.ts";

test.skipIf(!hasTmux)(
  "B13 a quota counts down in one line until its reset, and then goes on by itself",
  async () => {
    const cwd = makeRepository();
    installClaude(
      cwd,
      "[ -f ../tried ] || { touch ../tried; quota 4; }",
      "touch done.txt",
      "says fixed 0.10",
    );
    const terminal = openTerminal(cwd, 44, 60);
    terminal.run(`NO_COLOR=1 loop until --check 'done=sh check.sh' '${SPEC}'; echo code=$?`);
    await terminal.sees(/\n {2}continues in [34]s \(Ctrl-C stops\)$/);
    const later = await terminal.sees(/\n {2}continues in [12]s \(Ctrl-C stops\)$/);
    expect(later.match(/continues in/g), "one line that is drawn over").toHaveLength(1);
    expect(later.replaceAll("\n", "")).toMatch(
      /Waiting: claude: api error 429: 5-hour limit reached ?\| ?Goes on: in/,
    );
    const end = await terminal.sees(/code=0\n\$$/);
    expect(end).toMatch(/Cost: \$0\.00\/\$25[\s\S]*<loop-complete>/);
    expect(end).not.toContain("continues in");
    expect(stateOf(cwd)).toMatchObject({ iteration: 1, spent: { costUsd: 0.1 } });
  },
);
