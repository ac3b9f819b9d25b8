/** All clients that are known here. The next one: a file beside this one, its row, and where its hooks go. */
import type { ClientName, StopClient } from "./client.ts";
import { codex } from "./codex.ts";
import { copilot } from "./copilot.ts";
import { cursor } from "./cursor.ts";
import { gemini } from "./gemini.ts";
import { opencode } from "./opencode.ts";

export const CLIENTS: Readonly<Record<ClientName, StopClient>> = { codex, gemini, cursor, opencode, copilot };
