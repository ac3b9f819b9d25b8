/** `loop hook <client> <event>`: runs one hook of a client (D1). */
import { usageError } from "../../errors.ts";
import {
  CLIENT_EVENTS,
  CLIENT_NAMES,
  isClientEvent,
  isClientName,
} from "../../hosts/stop-hook/clients/client.ts";
import { EXIT } from "../exit-codes.ts";

export async function hookCommand(client: string, event: string): Promise<number> {
  if (client === "claude") {
    const { main } = await import("../../hosts/claude-code/hooks/run-hook.ts");
    await main(event);
    return EXIT.ok;
  }
  if (!isClientName(client))
    throw usageError(`Unknown client "${client}". Known clients: ${["claude", ...CLIENT_NAMES].join(", ")}.`);
  if (!isClientEvent(event))
    throw usageError(`Unknown event "${event}" for ${client}. Known events: ${CLIENT_EVENTS.join(", ")}.`);
  const { runClientHookProcess } = await import("../../hosts/stop-hook/run-hook.ts");
  const { CLIENTS } = await import("../../hosts/stop-hook/clients/clients.ts");
  await runClientHookProcess(CLIENTS[client], event);
  return EXIT.ok;
}
