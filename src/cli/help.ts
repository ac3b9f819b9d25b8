/** The layout of help, and the longer texts below it. */
import type { Command, HelpConfiguration } from "commander";

const MAX_WIDTH = 110;

/** Help shows all names of a command and wraps long lines. */
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
  loop 5m check if the deployment finished      every 5 minutes, starting now
  loop check the deploy every 30m               the interval may also come last
  loop 7m --exact look at the queue             every 7 minutes; without --exact, 7m is rounded
  loop at 14:30 remind me to send the report    once, at 14:30
  loop in 45m see whether the build is green    once, 45 minutes from now
  loop --cron "0 9 * * 1-5" --tz Europe/Paris summarise new issues
  loop auto watch the release                   the agent decides when it runs next
  loop 10m --expect "npm test" keep the tests green
                                                a run counts only if npm test passes after it
  loop until "npm test passes" fix the flaky tests
                                                turn after turn, until npm test passes
  loop up                                       run the loops of this folder
  loop list | show 3f | history 3f | pause 3f | resume 3f | run 3f | edit 3f 15m | delete 3f
                                                3f: the first characters of an id are enough

Exit codes: 0 success, 1 failure, 64 wrong usage. Goal loops also use: 2 budget used up, 3 iterations used
up, 4 stopped by a circuit breaker, 5 spec too vague, 6 waiting for a person, 130 interrupted.
More: loop help <command>, and the folder docs/ of the package.`;

export const EDIT_EXAMPLES = `
Examples:
  loop edit 3f 15m                            change the interval
  loop edit 3f look at staging instead        change the prompt
  loop edit 3f --expires never --missed skip  change settings
  loop edit 3f                                edit the prompt in $EDITOR (needs a terminal)`;

export const UP_HELP = `
The command of --agent-cmd reads the prompt on stdin and prints the answer to stdout. Any exit code except 0
is a failure. Its environment has LOOP_ID, LOOP_FIRE_ID, LOOP_SLOT, LOOP_KIND and LOOP_PROMPT_FILE.

Examples:
  loop up                                  use Claude Code, if it is installed
  loop up --agent codex                    use Codex; see all agents with: loop agents
  loop up --agent-cmd 'my-agent'           use any command that reads a prompt on stdin
  loop up --for 8h --notify-cmd 'notify-send "$LOOP_TITLE" "$LOOP_BODY"'`;

export const UNTIL_HELP = `
The agent works and says when it is done. The engine then runs the checks itself. The loop ends as done only
when all of this is true:
  - every check passes on the current files
  - nobody changed files that the checks depend on
  - the agent signalled that it is done
The loop pauses when it reaches a limit, makes no progress or needs a person. It then prints the reason and
the command that continues it.

The first argument says what must be proved. It has spaces or is a known phrase ("npm test passes", "no lint
errors", "tsc is clean"). The other words say what to do. The spec gets a score from 0 to 10:
  8 to 10  runs without questions
  5 to 7   asks you after the plan (G1), after each iteration (G2) and before the end (G3); --yes skips this
  0 to 4   does not start
To see the score: loop score "<spec>"

Checks:
  tests=npm test                     passes if the command exits 0
  cov=npm run -s cov >= 80           compares the number that the command prints
  ui=judge: the button is blue       asks an agent with a fresh context (weaker than a command)
  style=review: errors are handled   asks an agent with a fresh context to read the code (weaker too)

Examples:
  loop until "npm test passes" fix the flaky tests
  loop until --check 'tests=npm test' --check 'cov=npm run -s cov >= 80' --protect 'test/**' raise coverage
  loop until "npm test passes" --agent-cmd 'codex exec -' --budget 5 --yes migrate src/db.ts to zod
  loop status | pause | continue --budget=5 | cancel | approve | reject | accept | rollback 2 | report

Exit codes: 0 done, 1 error, 2 budget, time or tokens used up, 3 iterations used up, 4 stopped by a circuit
breaker, 5 spec too vague, 6 waiting for a person, 64 wrong usage, 130 interrupted.`;

export const TRUST_HELP = `
A cloned or copied project may contain a .loop folder with loops. You can list these loops, but none of them
runs or changes until you trust them with this command. These need your trust too:
  - commands in .loop/shape/SHAPE.md, .loop/prd.json and .loop/config.json
  - a command (expect) that you write into .loop/tasks.json
  - loops that were further than their journal says now, because it was cut or an older one was put back

The command shows everything that would run: agents, prompts, goals, stories, checks and expectations of every
loop, the commands of the files with what changed since you trusted them, and the MCP servers in the project.
Trust is bound to exactly that: when a file changes, the command asks again.

The list of trusted files is in ~/.config/loopwright/trust (or below $XDG_CONFIG_HOME), outside the project.

Examples:
  loop trust                               show what would run, then ask
  loop trust --yes                         do not ask (for a script; read the commands first)
  loop trust --revoke                      no longer trust the files of this project
  loop trust --list                        list the trusted files of all projects`;
