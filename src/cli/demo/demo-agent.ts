/** `loop demo-agent`: the agent of the demo, for clients of the Agent Client Protocol (E4). */
import { serveDemoAgent } from "../../agents/demo/serve.ts";
import { VERSION } from "../../version.ts";
import { EXIT } from "../exit-codes.ts";
import type { Io } from "../io.ts";

/** Ends when the client closes stdin. Nothing but the protocol goes to stdout. */
export async function demoAgentCommand(io: Io): Promise<number> {
  if (io.interactive)
    io.say(
      "Speaks the Agent Client Protocol on stdin and stdout, for a client to start. To see it: loop demo",
    );
  await serveDemoAgent(process.stdin, process.stdout, VERSION);
  return EXIT.ok;
}
