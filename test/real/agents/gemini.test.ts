import { readdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { describeAgent } from "../../support/agents/matrix.ts";
import type { World } from "../../support/agents/worlds.ts";

describeAgent({
  world: "gemini",
  agent: "gemini:acp",
  process: /gemini.* --acp/,
  classes: { 429: "quota", 500: "outage", 401: "auth" },
  denied: "told",
  takesTools: true,
  age: beganEarlier,
});

/**
 * Version 0.61.0 names a record after the minute in which it is opened, and begins an empty one before it loads
 * another: what is loaded within the minute in which it began is overwritten. A person is seldom so fast.
 */
function beganEarlier({ home }: World): void {
  const records = join(home, ".gemini", "tmp", "my-project", "chats");
  for (const name of readdirSync(records))
    renameSync(join(records, name), join(records, name.replace(/T\d\d-\d\d-/, "T00-00-")));
}
