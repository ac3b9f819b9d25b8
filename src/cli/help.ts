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
  loop up                                       run the tasks of this folder
  loop list | show 3f | history 3f | pause 3f | resume 3f | run 3f | edit 3f 15m | delete 3f

Exit codes: 0 done, 1 failure, 64 wrong use. More: loop help <command>, and docs/ in the package.`;

export const EDIT_EXAMPLES = `
Examples:
  loop edit 3f 15m                         another interval
  loop edit 3f look at staging instead     another prompt
  loop edit 3f --expires never --missed skip
  loop edit 3f                             opens the prompt in $EDITOR, in a terminal`;

export const UP_HELP = `
The agent gets the prompt on stdin and LOOP_ID, LOOP_FIRE_ID, LOOP_SLOT, LOOP_KIND and LOOP_PROMPT_FILE in its
environment; its stdout is the answer, and an exit code other than 0 is a failure.

Examples:
  loop up                                  fires go to Claude Code, when it is installed
  loop up --agent-cmd 'codex exec -'       any command that reads a prompt on stdin
  loop up --for 8h --notify-cmd 'notify-send "$LOOP_TITLE" "$LOOP_BODY"'`;

export const TRUST_HELP = `
A clone or a copy may bring a .loop folder with tasks in it. They can be listed, but nothing of them runs and
nothing is changed until you have said so here. What is shown is all that would run: prompts, and the commands
of --expect.

Examples:
  loop trust                               shows them and asks
  loop trust --yes                         in a script that has read them`;
