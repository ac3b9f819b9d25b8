/** How help looks, and the examples that stand below it. */
import type { Command, HelpConfiguration } from "commander";

const MAX_WIDTH = 110;

/** All names of a command are shown, and no line is longer than people read. */
export const HELP: HelpConfiguration = {
  helpWidth: Math.min(MAX_WIDTH, process.stdout.columns ?? MAX_WIDTH),
  subcommandTerm: (command: Command) => {
    const names = [command.name(), ...command.aliases()].join("|");
    const given = command.registeredArguments.map((argument) => {
      const name = `${argument.name()}${argument.variadic ? "..." : ""}`;
      return argument.required ? ` <${name}>` : ` [${name}]`;
    });
    return `${names}${given.join("")}`;
  },
};

export const EXAMPLES = `
Examples:
  loop 5m check if the deployment finished      every 5 minutes, and once now
  loop check the deploy every 30m               the interval may come last
  loop 7m --exact look at the queue             exactly 7 minutes, not the nearest that divides an hour
  loop at 14:30 remind me to send the report    once
  loop in 45m see whether the build is green    once
  loop --cron "0 9 * * 1-5" --tz Europe/Paris summarise new issues
  loop auto watch the release                   the agent says when it wants to be woken
  loop 10m --expect "npm test" keep the tests green
  loop until "npm test passes" fix the flaky tests
                                                turn after turn, until the engine's own npm test is green
  loop up                                       run the loops of this folder
  loop list | show 3f | history 3f | pause 3f | resume 3f | run 3f | edit 3f 15m | delete 3f

Exit codes: 0 done, 1 failure, 64 wrong use; of goal loops also 2 budget, 3 iterations, 4 breaker, 5 spec
too vague, 6 waiting for a person, 130 interrupted. More: loop help <command>, and docs/ in the package.`;

export const EDIT_EXAMPLES = `
Examples:
  loop edit 3f 15m                         another interval
  loop edit 3f look at staging instead     another prompt
  loop edit 3f --expires never --missed skip
  loop edit 3f                             opens the prompt in $EDITOR, in a terminal`;

export const UP_HELP = `
A command of --agent-cmd gets the prompt on stdin and LOOP_ID, LOOP_FIRE_ID, LOOP_SLOT, LOOP_KIND and
LOOP_PROMPT_FILE in its environment; its stdout is the answer, and an exit code other than 0 is a failure.

Examples:
  loop up                                  fires go to Claude Code, when it is installed
  loop up --agent codex                    to Codex; see: loop agents
  loop up --agent-cmd 'my-agent'           any command that reads a prompt on stdin
  loop up --for 8h --notify-cmd 'notify-send "$LOOP_TITLE" "$LOOP_BODY"'`;

export const UNTIL_HELP = `
The agent claims; the engine runs the checks. The loop ends as done only when every check is green on the
files as they are, what the checks consist of was not changed, and the agent signalled the end. It pauses,
with the reason and the command that goes on, at a limit, when nothing moves any more, or when a person has
to look.

The first argument is what has to be proved, when it has spaces or is a known phrase ("npm test passes", "no
lint errors", "tsc is clean"); the rest is what to do. A spec that scores 8 or more runs silently; 5 to 7
asks at the gates (G1 plan, G2 each iteration, G3 end; --yes skips them); below 5 it is not started. See:
loop score "<spec>"

Checks: 'tests=npm test' exits 0; 'cov=npm run -s cov >= 80' prints a number; 'ui=judge: the button is blue'
and 'style=review: errors are handled' ask an agent with a fresh context, and are weaker.

Examples:
  loop until "npm test passes" fix the flaky tests
  loop until --check 'tests=npm test' --check 'cov=npm run -s cov >= 80' --protect 'test/**' raise coverage
  loop until "npm test passes" --agent-cmd 'codex exec -' --budget 5 --yes migrate src/db.ts to zod
  loop status | pause | continue --budget=5 | cancel | approve | reject | accept | rollback 2 | report

Exit codes: 0 done, 1 error, 2 budget, time or tokens, 3 iterations, 4 breaker, 5 spec too vague, 6 waiting
for a person, 64 wrong use, 130 interrupted.`;

export const TRUST_HELP = `
A clone or a copy may bring a .loop folder with tasks in it. They can be listed, but nothing of them runs and
nothing is changed until you have said so here. The same goes for commands in .loop/shape/SHAPE.md and for the
checks of .loop/config.json: they run only after you have trusted that very content of the file. When it
changes, or the project is moved, you are asked again. What is shown is all that would run: prompts, the
commands of --expect, and the commands in those files.

What you trust is kept in ~/.config/loopwright/trust (or below $XDG_CONFIG_HOME), outside of the project.

Examples:
  loop trust                               shows them and asks
  loop trust --yes                         in a script that has read them
  loop trust --revoke                      takes it back for the files of this project
  loop trust --list                        what is trusted, in all projects`;
