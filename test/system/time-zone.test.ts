/** The name of the machine's time zone, also where the runtime has none for it. */
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { systemTimeZone } from "../../src/system/time-zone.ts";
import { makeProject, runLoop, type TaskJson } from "../support/cli.ts";

test("what the runtime says, then TZ, then /etc/localtime, then nothing", () => {
  const localtime = join(makeProject(), "localtime");
  const zone = (TZ: string | undefined, known?: string) =>
    systemTimeZone({ TZ }, known ?? "Etc/Unknown", localtime);
  expect(zone("UTC+25")).toBeNull();
  symlinkSync("/usr/share/zoneinfo/posix/America/New_York", localtime);
  expect(zone("Asia/Tokyo", "Asia/Tokyo")).toBe("Asia/Tokyo");
  expect(zone(":/usr/share/zoneinfo/Europe/Paris")).toBe("Europe/Paris");
  expect(zone("/usr/share/zoneinfo/Europe/Paris")).toBe("Europe/Paris");
  expect(zone(`:${localtime}`)).toBe("America/New_York");
  expect(zone("UTC+25")).toBe("America/New_York");
  expect(zone(undefined)).toBe("America/New_York");
  expect(zone("")).toBe("UTC");
});

test.each([
  [":/usr/share/zoneinfo/Europe/Paris", "Europe/Paris"],
  [":/etc/localtime", systemTimeZone({ TZ: ":/etc/localtime" }, "Etc/Unknown")],
  ["UTC+25", systemTimeZone({ TZ: ":/etc/localtime" }, "Etc/Unknown")],
])("A14 with TZ=%s nine is nine o'clock there", async (TZ, zone) => {
  const cwd = makeProject();
  const args = ["--cron", "0 9 * * *", "--no-jitter", "--no-now", "x", "--dry-run", "--json"];
  const { code, stdout, stderr } = await runLoop(args, { cwd, env: { TZ } });
  if (zone === null) {
    expect({ code, stderr }).toEqual({ code: 64, stderr: expect.stringMatching(/TZ[\s\S]*--tz/) });
    return;
  }
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const at = (JSON.parse(stdout) as TaskJson).nextFireAt ?? "";
  expect(new Date(at).toLocaleTimeString("en-GB", { timeZone: zone })).toBe("09:00:00");
});
