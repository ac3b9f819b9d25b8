/**
 * The answers of an MCP server, for every transport: tools only. We do not use the official package, because a server
 * starts with every conversation and the package would add 400 KB and 35 ms.
 */
import type { InitializeResult, ListToolsResult } from "@modelcontextprotocol/sdk/types.js";
import * as z from "zod";
import {
  INVALID_PARAMS,
  type McpRequest,
  METHOD_NOT_FOUND,
  type Params,
  renderResult,
  renderRpcError,
} from "./message.ts";
import { describeTool, type McpTool, runTool } from "./tool.ts";

export interface McpOffer {
  readonly name: string;
  readonly version: string;
  /** Shown to the model together with the tools. */
  readonly instructions?: string;
  readonly tools: readonly McpTool[];
}

/** A tool call. The transport runs and tracks it. Does not reject. */
type AskedCall = (signal: AbortSignal) => Promise<string>;

/** Newest first. For tools, all versions are the same. */
export const VERSIONS: readonly [string, ...string[]] = [
  "2025-11-25",
  "2025-06-18",
  "2025-03-26",
  "2024-11-05",
];

const CallParams = z.object({
  name: z.string(),
  arguments: z.record(z.string(), z.unknown()).default({}),
  _meta: z.record(z.string(), z.unknown()).default({}),
});

/** The answer, or a tool call that must run first. */
export function answerRequest(offer: McpOffer, { id, method, params }: McpRequest): string | AskedCall {
  switch (method) {
    case "initialize":
      return renderResult(id, introduce(offer, params));
    case "ping":
      return renderResult(id, {});
    case "tools/list": {
      const listed = offer.tools.filter(({ isListed = true }) => isListed);
      return renderResult(id, { tools: listed.map(describeTool) } satisfies ListToolsResult);
    }
    case "tools/call":
      return callOf(offer, id, params);
    default:
      return renderRpcError(id, METHOD_NOT_FOUND, `This server has no method ${method}.`);
  }
}

function callOf({ tools }: McpOffer, id: McpRequest["id"], params: Params): string | AskedCall {
  const asked = CallParams.safeParse(params);
  if (!asked.success) {
    const [issue] = asked.error.issues;
    return renderRpcError(id, INVALID_PARAMS, `${issue?.path.join(".")}: ${issue?.message}`);
  }
  const { name, arguments: args, _meta: meta } = asked.data;
  const tool = tools.find((one) => one.name === name);
  if (tool === undefined) return renderRpcError(id, INVALID_PARAMS, `There is no tool ${name}.`);
  const isFromModel = "claudecode/toolUseId" in meta;
  return async (signal) => renderResult(id, await runTool(tool, args, { signal, isFromModel }));
}

/** The answer to an unknown version is our newest one; the client may then disconnect. */
function introduce({ name, version, instructions }: McpOffer, { protocolVersion }: Params): InitializeResult {
  return {
    protocolVersion: VERSIONS.find((known) => known === protocolVersion) ?? VERSIONS[0],
    capabilities: { tools: {} },
    serverInfo: { name, version },
    ...(instructions === undefined ? {} : { instructions }),
  };
}
