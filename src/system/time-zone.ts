/** The name of this machine's time zone, also when the runtime does not know it (`TZ=:/usr/share/zoneinfo/…`). */
import { readlinkSync, realpathSync } from "node:fs";
import { isTimeZone } from "../core/task/zone.ts";
import { orNull } from "./files.ts";

const LOCALTIME = "/etc/localtime";

/** null: unknown. A schedule must not guess. */
export function systemTimeZone(
  env: Readonly<Record<string, string | undefined>>,
  known: string | undefined = Intl.DateTimeFormat().resolvedOptions().timeZone,
  localtime: string = LOCALTIME,
): string | null {
  if (typeof known === "string" && isTimeZone(known)) return known;
  // an empty TZ means UTC, but the runtime says Etc/Unknown
  if (env.TZ === "") return "UTC";
  const path = env.TZ?.replace(/^:/, "") ?? "";
  return (path.startsWith("/") ? zoneOfFile(path) : null) ?? zoneOfFile(localtime);
}

/** For display only. */
export function localZone(): string {
  return systemTimeZone(process.env) ?? "UTC";
}

/** From the path itself, or else from its link. */
function zoneOfFile(path: string): string | null {
  return (
    zoneInPath(path) ??
    zoneInPath(orNull(() => readlinkSync(path))) ??
    zoneInPath(orNull(() => realpathSync(path)))
  );
}

function zoneInPath(path: string | null): string | null {
  const name = /\/zoneinfo[^/]*\/(?:(?:posix|right)\/)?(.+)$/.exec(path ?? "")?.[1];
  return name !== undefined && isTimeZone(name) ? name : null;
}
