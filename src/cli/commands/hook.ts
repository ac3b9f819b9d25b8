/** `loop hook <client> <event>`: one hook of a client, on its own (D1). */
import { usageError } from "../../errors.ts";
import { main } from "../../hosts/claude-code/run-hook.ts";
import { EXIT } from "../exit-codes.ts";

export async function hookCommand(client: string, event: string): Promise<number> {
  if (client !== "claude") throw usageError(`There is no client "${client}" with hooks here; known: claude.`);
  await main(event);
  return EXIT.ok;
}
