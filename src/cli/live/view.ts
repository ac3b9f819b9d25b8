/** Contracts of the views, and the smallest one. `LiveView` is for `loop up`: screen, lines or JSON. */
import type { EngineNews } from "../../engine/engine.ts";
import { reasonOf } from "../../errors.ts";
import type { Io } from "../io.ts";
import { oneLine } from "../render/table.ts";
import { createAsker } from "./hold.ts";
import { renderNotice } from "./lines.ts";
import type { PermissionReply } from "./permission-question.ts";
import { askPermission } from "./question.ts";

/** What every foreground run shows. */
export interface RunView {
  notify(title: string, body: string): void;
  problem(error: unknown): void;
  /** For a permission that an agent requests. null: nobody answers. */
  askPermission(question: string, withdrawn: AbortSignal): Promise<PermissionReply | null>;
}

export interface LiveView extends RunView {
  open(about: { readonly agent: string; readonly firing: boolean; readonly endAt: number | null }): void;
  show(news: EngineNews): void;
  stopping(signal: string): void;
  /** null: nobody to ask, or no answer. */
  ask(question: string, detail: string): Promise<boolean | null>;
  close(): void;
}

/** Only notices, problems and questions. */
export function createPlainView(io: Io): RunView {
  const ask = createAsker(io);
  return {
    notify: (title, body) => io.say(renderNotice(title, body, io)),
    problem: (error) => io.say(oneLine(reasonOf(error))),
    askPermission: (question, withdrawn) => ask(() => askPermission(question, withdrawn)),
  };
}
