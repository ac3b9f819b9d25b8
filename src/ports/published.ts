/**
 * Copies of the state as files, for people and other programs: `tasks.json`, `state.json`, `progress.json`. Only a
 * store that is a folder has them. They decide nothing; they are always written anew from the loops.
 */
export interface PublishedFiles {
  /**
   * Rewrites the published files. Must not reject: it tells the person what is in its way, and moves a damaged file
   * aside. A file that a person edited stays until its requests were taken (`requests.ts`).
   */
  publish(): Promise<void>;
  /** Did somebody else write into `state.json` since this process published it? */
  wasStateEdited(): boolean;
}
