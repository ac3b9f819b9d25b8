/** All supported clients. To add one: a file in this folder, a row here, and a row in `install/targets.ts`. */
import type { ClientName, StopClient } from "./client.ts";
import { codex } from "./codex.ts";
import { copilot } from "./copilot.ts";
import { cursor } from "./cursor.ts";
import { gemini } from "./gemini.ts";
import { opencode } from "./opencode.ts";

export const CLIENTS: Readonly<Record<ClientName, StopClient>> = { codex, gemini, cursor, opencode, copilot };
