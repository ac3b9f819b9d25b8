/** The file behind the plugin's command hooks. */
import { main } from "./run-hook.ts";

void main(process.argv[2] ?? "").finally(() => process.exit(0));
