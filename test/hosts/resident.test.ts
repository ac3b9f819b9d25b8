import { afterEach, expect, test } from "vitest";
import { contextOf, PlayedClient } from "../support/played-client.ts";
import { removeTempDirs } from "../store/fixtures/temp-dir.ts";
afterEach(removeTempDirs);
test.each(["resident", "hooks"] as const)("x %s", async (path) => {
  const c = new PlayedClient(path);
  await c.addGoal();
  console.log(JSON.stringify(await c.submit("hello")));
  const a = await c.stop("hi there");
  console.log(JSON.stringify(a), c.said);
  const b = await c.report(true);
  console.log(contextOf(b));
  c.write("done.txt");
  await c.use("t1");
  const d = await c.report(true);
  console.log(JSON.stringify(d), c.goal().status);
  await c.close();
});
