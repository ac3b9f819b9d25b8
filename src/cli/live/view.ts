/** Contracts of the views. `LiveView` is for `loop up`: screen, lines or JSON. */
import type { EngineNews } from "../../engine/engine.ts";
import type { PermissionReply } from "./permission-question.ts";

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
