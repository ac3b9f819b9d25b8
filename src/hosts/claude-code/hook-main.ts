/** The entry point of the plugin's command hooks. */
import { needsHook } from "./hooks/hook-guard.ts";

const event = process.argv[2] ?? "";
if (needsHook(event, process.env))
  void import("./hooks/run-hook.ts").then(({ main }) => main(event)).finally(() => process.exit(0));
