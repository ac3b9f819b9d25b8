/**
 * Copies of the state as files, for people and other programs: `tasks.json`, `state.json`, `progress.json`. Only the
 * folder store has them. The engine decides nothing from them and always writes them again from the loops.
 */
export interface PublishedFiles {
  /**
   * Rewrites the published files. Must not reject: it tells the person about a problem and moves a damaged file aside.
   * A file that a person edited stays until the engine takes its requests (`requests.ts`).
   */
  publish(): Promise<void>;
  /** Did another process or a person change `state.json` since this process published it? */
  wasStateEdited(): boolean;
}
