/** `loop demo-agent`: serves the demo's agent to an ACP client (E4). */
import { serveDemoAgent } from "../../agents/demo/serve.ts";
import { VERSION } from "../../version.ts";
import { EXIT } from "../exit-codes.ts";
import type { Io } from "../io.ts";

/** Ends when the client closes stdin. Only the protocol goes to stdout. */
export async function demoAgentCommand(_flags: object, io: Io): Promise<number> {
  if (io.interactive)
    io.say("This is an agent for ACP clients. Let a client start it. To see it at work: loop demo");
  await serveDemoAgent(process.stdin, process.stdout, VERSION);
  return EXIT.ok;
}
