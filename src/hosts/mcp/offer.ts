/**
 * The answers of an MCP server, for every transport: tools only. We do not use the official package, because a server
 * starts with every conversation and the package would add 400 KB and 35 ms.
 */
import type { InitializeResult, ListToolsResult } from "@modelcontextprotocol/sdk/types.js";
import * as z from "zod";
import { type Era, eraOf, HANDSHAKE_VERSIONS, SERVER_INFO, STATELESS_VERSION } from "./era.ts";
import {
  INVALID_PARAMS,
  type McpRequest,
  METHOD_NOT_FOUND,
  type Params,
  renderNotification,
  renderResult,
  renderRpcError,
} from "./message.ts";
import { describeTool, type McpTool, type Progress, runTool } from "./tool.ts";

export interface McpOffer {
  readonly name: string;
  readonly version: string;
  /** Shown to the model together with the tools. */
  readonly instructions?: string;
  readonly tools: readonly McpTool[];
}

/** `status`: for HTTP. */
export type McpAnswer =
  | { readonly kind: "line"; readonly status: 200 | 400 | 404; readonly line: string }
  /** A tool call. The transport runs and tracks it. `run` does not reject. */
  | { readonly kind: "call"; run(signal: AbortSignal, notify: (line: string) => void): Promise<string> };

const CallParams = z.object({
  name: z.string(),
  arguments: z.record(z.string(), z.unknown()).default({}),
  _meta: z
    .looseObject({ progressToken: z.union([z.string(), z.number()]).optional().catch(undefined) })
    .default({}),
});

/** The list belongs to one token and changes with its turn. */
const NEVER_CACHED = { ttlMs: 0, cacheScope: "private" } as const;

/** The answer, or a tool call that must run first. */
export function answerRequest(offer: McpOffer, request: McpRequest, era: Era = eraOf(request)): McpAnswer {
  if (era.kind === "wrong") return { kind: "line", status: 400, line: era.answer };
  const { id, method, params } = request;
  const isStateless = era.kind === "stateless";
  const render = (result: object): string => renderResult(id, isStateless ? complete(offer, result) : result);
  const answer = (result: object): McpAnswer => ({ kind: "line", status: 200, line: render(result) });
  switch (method) {
    case "tools/list": {
      const listed = offer.tools.filter(({ isListed = true }) => isListed);
      const result = { tools: listed.map(describeTool) } satisfies ListToolsResult;
      return answer(isStateless ? { ...result, ...NEVER_CACHED } : result);
    }
    case "tools/call":
      return callOf(offer, id, params, render);
  }
  if (isStateless && method === "server/discover")
    return answer({ supportedVersions: [STATELESS_VERSION], ...abilities(offer), ...NEVER_CACHED });
  if (!isStateless && method === "initialize") return answer(introduce(offer, params));
  if (!isStateless && method === "ping") return answer({});
  const line = renderRpcError(id, METHOD_NOT_FOUND, `This server has no method ${method}.`);
  return { kind: "line", status: isStateless ? 404 : 200, line };
}

function callOf(
  { tools }: McpOffer,
  id: McpRequest["id"],
  params: Params,
  render: (result: object) => string,
): McpAnswer {
  const refuse = (message: string): McpAnswer => ({
    ...{ kind: "line", status: 200 },
    line: renderRpcError(id, INVALID_PARAMS, message),
  });
  const asked = CallParams.safeParse(params);
  if (!asked.success) {
    const [issue] = asked.error.issues;
    return refuse(`${issue?.path.join(".")}: ${issue?.message}`);
  }
  const { name, arguments: args, _meta: meta } = asked.data;
  const tool = tools.find((one) => one.name === name);
  if (tool === undefined) return refuse(`There is no tool ${name}.`);
  const isFromModel = "claudecode/toolUseId" in meta;
  return {
    kind: "call",
    async run(signal, notify) {
      let isOver = false;
      const onProgress = (step: Progress): void => {
        const { progressToken } = meta;
        if (progressToken === undefined || isOver || signal.aborted) return;
        notify(renderNotification("notifications/progress", { progressToken, ...step }));
      };
      const result = await runTool(tool, args, { signal, isFromModel, onProgress });
      isOver = true;
      return render(result);
    },
  };
}

/** The form of a result since 2026-07-28. */
function complete({ name, version }: McpOffer, result: object): object {
  return { resultType: "complete", ...result, _meta: { [SERVER_INFO]: { name, version } } };
}

/** The answer to an unknown version is our newest one; the client may then disconnect. */
function introduce(offer: McpOffer, { protocolVersion }: Params): InitializeResult {
  return {
    protocolVersion: HANDSHAKE_VERSIONS.find((known) => known === protocolVersion) ?? HANDSHAKE_VERSIONS[0],
    ...abilities(offer),
    serverInfo: { name: offer.name, version: offer.version },
  };
}

function abilities({ instructions }: McpOffer) {
  return { capabilities: { tools: {} }, ...(instructions === undefined ? {} : { instructions }) };
}
