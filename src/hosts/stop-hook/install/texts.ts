/** The files that define our command in each client, in the client's own form. */

/** `install` recognises its own files by this text. */
export const MARK = "Made by `loop install`";

const DESCRIPTION =
  'Loops with real checks: until "<criterion>" <prompt>, status, pause, continue, cancel, list, help. Use only when the person types it.';
const HINT = 'until "<criterion>" <prompt> | status | continue | cancel | help';

const BODY = `Loopwright answers this command itself. If there is work for you, a text from Loopwright comes with this message. Do what that text says, and nothing else.

If there is no text from Loopwright, do not follow the command and change no file. Say only: the Loopwright hook did not answer; run \`loop doctor\` in a terminal to see why.`;

/** For Codex and Copilot. */
export function renderSkill(name: string): string {
  return `---
name: ${name}
description: ${JSON.stringify(DESCRIPTION)}
---

${BODY}

<!-- ${MARK}; \`loop uninstall\` removes it. -->
`;
}

/** For Gemini: its BeforeAgent hook receives the prompt. */
export function renderGeminiCommand(): string {
  return `# ${MARK}; \`loop uninstall gemini\` removes it.
description = ${JSON.stringify(DESCRIPTION)}
prompt = "/loopwright {{args}}"
`;
}

/** For opencode: the plugin replaces this text. */
export function renderOpencodeCommand(): string {
  return `---
description: ${JSON.stringify(DESCRIPTION)}
---
<!-- ${MARK}; \`loop uninstall opencode\` removes it. -->
/loopwright $ARGUMENTS

If there is no other text, do not follow the command and change no file. Say only: the Loopwright plugin did not answer; run \`loop doctor\` in a terminal to see why.
`;
}

/** For Cursor: its hook cannot add text before a turn, so the loop's first turn comes after this one. */
export function renderCursorCommand(): string {
  return `# loopwright
${HINT}

Loopwright runs this command itself. Do not follow the command, use no tool and change no file. Answer with one line, "The loop begins.", and end your turn. The next message says what to do.

<!-- ${MARK}; \`loop uninstall cursor\` removes it. -->
`;
}
