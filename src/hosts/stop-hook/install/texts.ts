/** The command that a person types in a client, as a file of the client's own form. */

/** By this `install` knows a file of its own again. */
export const MARK = "Made by `loop install`";

const DESCRIPTION =
  'Loops that are checked: until "<criterion>" <prompt>, status, pause, continue, cancel, list, help. Only when the person types it.';
const HINT = 'until "<criterion>" <prompt> | status | continue | cancel | help';

const BODY = `Loopwright answers this command itself. Where there is something for you to do, its text stands beside this one: do what that says, and nothing else.

If there is no text of Loopwright's, do nothing of what was typed and change no file. Say only: the hook of Loopwright did not answer, and \`loop doctor\` in a terminal shows why.`;

/** Codex, Copilot: it is reached by its name. */
export function renderSkill(name: string): string {
  return `---
name: ${name}
description: ${JSON.stringify(DESCRIPTION)}
---

${BODY}

<!-- ${MARK}; \`loop uninstall\` takes it away. -->
`;
}

/** Gemini: the prompt is what the hook before the agent sees. */
export function renderGeminiCommand(): string {
  return `# ${MARK}; \`loop uninstall gemini\` takes it away.
description = ${JSON.stringify(DESCRIPTION)}
prompt = "/loopwright {{args}}"
`;
}

/** opencode: the plugin puts its own text in the place of this. */
export function renderOpencodeCommand(): string {
  return `---
description: ${JSON.stringify(DESCRIPTION)}
---
<!-- ${MARK}; \`loop uninstall opencode\` takes it away. -->
/loopwright $ARGUMENTS

If this text is all there is, do nothing of it and change no file. Say only: the plugin of Loopwright did not answer, and \`loop doctor\` in a terminal shows why.
`;
}

/** Cursor cannot be told anything before a turn: the loop's first turn comes with the end of this one. */
export function renderCursorCommand(): string {
  return `# loopwright
${HINT}

Loopwright carries this command out itself. Do nothing of what was typed, use no tool and change no file. Answer with one line, "The loop begins.", and end your turn: what is to be done comes with the next message.

<!-- ${MARK}; \`loop uninstall cursor\` takes it away. -->
`;
}
