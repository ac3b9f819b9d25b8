import type { NoticeKind } from "../core/base.ts";

/** Tells a person. Must not throw and must not wait for an answer. */
export interface Notifier {
  notify(title: string, body: string, kind: NoticeKind): void;
}
