import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import { openLog } from "../../../src/hosts/conversation/debug-log.ts";
import { lastSaid, rememberSaid } from "../../../src/hosts/stop-hook/conversation-notes.ts";
import { removeTempDirs, tempDir } from "../../store/fixtures/temp-dir.ts";

afterEach(removeTempDirs);

test("J7 D12 the log of hooks and the note of a conversation have no secret", () => {
  vi.stubEnv("DEPLOY_TOKEN", "q8Zr41xW-secret");
  onTestFinished(() => void vi.unstubAllEnvs());
  const root = tempDir();
  const dir = join(root, ".loop");
  mkdirSync(dir);
  openLog(root, { LOOP_DEBUG: "1" })("Stop", '{"message":"it is q8Zr41xW-secret"}');
  rememberSaid(dir, "s-1", "it is q8Zr41xW-secret");
  expect(readFileSync(join(dir, "debug.log"), "utf8")).toContain(
    '{"message":"it is [masked: DEPLOY_TOKEN]"}',
  );
  expect(lastSaid(dir, "s-1")).toBe("it is [masked: DEPLOY_TOKEN]");
});
