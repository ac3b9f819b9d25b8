/** What a resident runner shows while it runs: one contract, three ways (screen, lines, JSON). */
import type { EngineNews } from "../../engine/engine.ts";
import type { PermissionReply } from "./permission-question.ts";

export interface LiveView {
  open(about: { readonly agent: string; readonly firing: boolean; readonly endAt: number | null }): void;
  show(news: EngineNews): void;
  notify(title: string, body: string): void;
  problem(error: unknown): void;
  stopping(signal: string): void;
  /** null: nobody to ask, or no answer. */
  ask(question: string, detail: string): Promise<boolean | null>;
  /** For what an agent asks leave for. null: as with `ask`. */
  askPermission(question: string, withdrawn: AbortSignal): Promise<PermissionReply | null>;
  close(): void;
}
