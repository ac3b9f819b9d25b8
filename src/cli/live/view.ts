/** The output of `loop up`: one contract with three implementations (screen, lines, JSON). */
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
  /** For a permission that an agent requests. null: as with `ask`. */
  askPermission(question: string, withdrawn: AbortSignal): Promise<PermissionReply | null>;
  close(): void;
}
