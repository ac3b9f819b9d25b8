/** A tool as an MCP server offers it: how it is described to a client, and how a call of it is answered. */
import type { CallToolResult, Tool, ToolAnnotations } from "@modelcontextprotocol/sdk/types.js";
import * as z from "zod";
import { cleanLine } from "../../core/text/clean.ts";
import { LoopError } from "../../errors.ts";

export interface McpTool {
  readonly name: string;
  /** The model pays for every word of it in every request. */
  readonly description: string;
  /** Tells the client what goes in. `run` looks for itself: what comes over the wire is anything. */
  readonly schema: z.ZodType;
  /** false: it can be called by its name, but models are not told of it. */
  readonly isListed?: boolean;
  /** Claude Code keeps tools behind a search; this one is in every request. */
  readonly alwaysLoad?: boolean;
  /** Hints for the client. */
  readonly annotations?: ToolAnnotations;
  run(input: unknown, call: McpCall): Promise<ToolAnswer>;
}

export interface McpCall {
  /** Aborted when the client took the call back, or is gone. */
  readonly signal: AbortSignal;
  /** Claude Code marks the calls of its model; those of its hooks have no mark. */
  readonly isFromModel: boolean;
}

export interface ToolAnswer {
  readonly text: string;
  readonly isError?: boolean;
}

/** As `tools/list` gives it. */
export function describeTool({ name, description, schema, annotations, alwaysLoad }: McpTool): Tool {
  // the dialect is the protocol's own, and its address costs tokens
  const { $schema: _, ...inputSchema } = z.toJSONSchema(schema, { io: "input" });
  return {
    name,
    description,
    // every tool takes an object
    inputSchema: inputSchema as Tool["inputSchema"],
    ...(annotations === undefined ? {} : { annotations }),
    ...(alwaysLoad ? { _meta: { "anthropic/alwaysLoad": true } } : {}),
  };
}

/** Never rejects: what a tool throws is its answer, in one sentence. */
export async function runTool(tool: McpTool, input: unknown, call: McpCall): Promise<CallToolResult> {
  const { text, isError = false } = await attempt();
  return { content: [{ type: "text", text }], ...(isError ? { isError } : {}) };

  async function attempt(): Promise<ToolAnswer> {
    try {
      return await tool.run(input, call);
    } catch (error) {
      return { text: sentenceOf(tool, error), isError: true };
    }
  }
}

function sentenceOf(tool: McpTool, error: unknown): string {
  if (error instanceof LoopError) return [error.message, error.hint].filter(Boolean).join(" ");
  return cleanLine(`${tool.name} failed: ${error instanceof Error ? error.message : String(error)}`);
}
