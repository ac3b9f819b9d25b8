/** How the output of each agent is read for a person. One row per format. */
import type { AgentEvent } from "../../ports/agent.ts";
import { parseUpdate } from "../acp/connection/messages.ts";
import { AcpTurnRecord } from "../acp/record.ts";
import { readActivityLine } from "../claude/activity.ts";
import { readCodexLine } from "../codex/cli.ts";
import { openGeminiLines } from "../gemini/cli.ts";
import { readOpencodeLine } from "../opencode/cli.ts";
import { readPiLine } from "../pi/rpc.ts";
import { parseJson } from "../quietly.ts";
import { showText } from "../stream/stream-events.ts";

/** Takes the lines of one turn in order. */
export type LineReader = (line: string) => readonly AgentEvent[];

interface Format {
  readonly file: "answer.txt" | "events.jsonl";
  /** A reader may start at any line. */
  readonly isByLine: boolean;
  readonly open: (projectDir: string) => LineReader;
}

const TEXT = byLine(showText);

const FORMATS: Readonly<Record<string, Format>> = {
  claude: byLine(readActivityLine),
  codex: byLine(readCodexLine),
  gemini: { file: "answer.txt", isByLine: false, open: openGeminiLines },
  opencode: byLine(readOpencodeLine),
  pi: byLine(readPiLine),
  acp: { file: "events.jsonl", isByLine: false, open: readUpdates },
};

/** Plain text for a command, and for a format that nobody knows. */
export function formatOf(name: string): Format {
  return Object.hasOwn(FORMATS, name) ? (FORMATS[name] ?? TEXT) : TEXT;
}

function byLine(read: (line: string, projectDir: string) => readonly AgentEvent[]): Format {
  return { file: "answer.txt", isByLine: true, open: (projectDir) => (line) => read(line, projectDir) };
}

/** ACP updates build on each other: text comes in chunks, a tool call in several parts. */
function readUpdates(projectDir: string): LineReader {
  const record = new AcpTurnRecord(projectDir);
  return (line) => {
    const message = parseJson(line) as { readonly params?: unknown } | null;
    const update = parseUpdate(message?.params)?.update ?? null;
    return update === null ? [] : record.add(update);
  };
}
