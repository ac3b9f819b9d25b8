// The smallest agent on the protocol's own SDK, to see that our client speaks the same language.
import { Readable, Writable } from "node:stream";
import * as acp from "@agentclientprotocol/sdk";

const { methods } = acp;
const prompts = [];
acp
  .agent({ name: "sdk" })
  .onRequest(methods.agent.initialize, () => ({
    protocolVersion: acp.PROTOCOL_VERSION,
    agentCapabilities: { mcpCapabilities: { http: true } },
  }))
  .onRequest(methods.agent.session.new, ({ params }) => ({
    sessionId: `sdk-${params.mcpServers.length}`,
    modes: {
      currentModeId: "ask",
      availableModes: [
        { id: "ask", name: "Ask" },
        { id: "code", name: "Code" },
      ],
    },
  }))
  .onRequest(methods.agent.session.setMode, () => ({}))
  .onNotification(methods.agent.session.cancel, () => {
    for (const cancel of prompts.splice(0)) cancel({ stopReason: "cancelled" });
  })
  .onRequest(methods.agent.session.prompt, async ({ params, client }) => {
    const { sessionId, prompt } = params;
    const [{ text }] = prompt;
    if (text === "hang") return new Promise((done) => prompts.push(done));
    const toolCall = { toolCallId: "t", kind: "edit", title: "Write", locations: [{ path: text }] };
    const options = [
      { optionId: "no", name: "No", kind: "reject_once" },
      { optionId: "yes", name: "Yes", kind: "allow_once" },
    ];
    await client.notify(methods.client.session.update, {
      sessionId,
      update: { sessionUpdate: "tool_call", ...toolCall, status: "pending" },
    });
    const { outcome } = await client.request(methods.client.session.requestPermission, {
      sessionId,
      toolCall,
      options,
    });
    await client.notify(methods.client.session.update, {
      sessionId,
      update: { sessionUpdate: "tool_call_update", toolCallId: "t", status: "completed" },
    });
    // a method that we do not offer is refused in the protocol's way
    const refused = await client.request(methods.client.fs.readTextFile, { sessionId, path: text }).then(
      () => "read",
      (error) => error.code,
    );
    await client.notify(methods.client.session.update, {
      sessionId,
      update: {
        sessionUpdate: "agent_message_chunk",
        content: { type: "text", text: `${outcome.optionId} ${refused}` },
      },
    });
    return { stopReason: "end_turn" };
  })
  .connect(acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
