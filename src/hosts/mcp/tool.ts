/** A tool of an MCP server: its description for a client, and the answer to a call. */
import type { CallToolResult, Tool, ToolAnnotations } from "@modelcontextprotocol/sdk/types.js";
import * as z from "zod";
import { cleanLine } from "../../core/text/clean.ts";
import { LoopError } from "../../errors.ts";

export interface McpTool {
  readonly name: string;
  /** Every word costs tokens in every request. */
  readonly description: string;
  /** Describes the input to the client. `run` must validate the input itself. */
  readonly schema: z.ZodType;
  /** false: callable by name, but not listed for models. */
  readonly isListed?: boolean;
  /** Claude Code finds tools by search; with this flag the tool is in every request. */
  readonly alwaysLoad?: boolean;
  /** Hints for the client. */
  readonly annotations?: ToolAnnotations;
  run(input: unknown, call: McpCall): Promise<ToolAnswer>;
}

export interface McpCall {
  /** Aborted when the client cancels the call or disconnects. */
  readonly signal: AbortSignal;
  /** Claude Code marks calls of its model; calls of its hooks have no mark. */
  readonly isFromModel: boolean;
}

export interface ToolAnswer {
  readonly text: string;
  readonly isError?: boolean;
}

/** The form of `tools/list`. */
export function describeTool({ name, description, schema, annotations, alwaysLoad }: McpTool): Tool {
  // the protocol fixes the dialect, and its address costs tokens
  const { $schema: _, ...inputSchema } = z.toJSONSchema(schema, { io: "input" });
  return {
    name,
    description,
    inputSchema: inputSchema as Tool["inputSchema"],
    ...(annotations === undefined ? {} : { annotations }),
    ...(alwaysLoad ? { _meta: { "anthropic/alwaysLoad": true } } : {}),
  };
}

/** Never rejects: a thrown error becomes the answer, in one sentence. */
export async function runTool(tool: McpTool, input: unknown, call: McpCall): Promise<CallToolResult> {
  const { text, isError = false } = await Promise.resolve()
    .then(() => tool.run(input, call))
    .catch((error: unknown): ToolAnswer => ({ text: sentenceOf(tool, error), isError: true }));
  return { content: [{ type: "text", text }], ...(isError ? { isError } : {}) };
}

function sentenceOf(tool: McpTool, error: unknown): string {
  if (error instanceof LoopError) return [error.message, error.hint].filter(Boolean).join(" ");
  return cleanLine(`${tool.name} failed: ${error instanceof Error ? error.message : String(error)}`);
}
