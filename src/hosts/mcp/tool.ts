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
  /** Describes `value` of every answer that is not an error. */
  readonly output?: z.ZodType;
  /** false: callable by name, but not listed for models. */
  readonly isListed?: boolean;
  /** Claude Code finds tools by search; with this flag the tool is in every request. */
  readonly alwaysLoad?: boolean;
  /** Hints for the client. */
  readonly annotations?: ToolAnnotations;
  run(input: unknown, call: McpCall): Promise<ToolAnswer>;
}

export interface McpCall {
  /** Aborted when the client cancels the call or disconnects. From then on the tool must change nothing. */
  readonly signal: AbortSignal;
  /** Tells a waiting client what happens. Each `progress` must be higher than the one before. Must not throw. */
  readonly onProgress?: (step: Progress) => void;
  /** Claude Code marks calls of its model; calls of its hooks have no mark. */
  readonly isFromModel: boolean;
}

export interface Progress {
  readonly progress: number;
  readonly total?: number;
  /** One line for a person. */
  readonly message?: string;
}

export interface ToolAnswer {
  readonly text: string;
  /** The same answer as data, in the form of `output`. */
  readonly value?: Readonly<Record<string, unknown>>;
  readonly isError?: boolean;
}

/** The form of `tools/list`. */
export function describeTool({ name, description, schema, output, annotations, alwaysLoad }: McpTool): Tool {
  return {
    name,
    description,
    inputSchema: jsonSchemaOf(schema, "input"),
    ...(output === undefined ? {} : { outputSchema: jsonSchemaOf(output, "output") }),
    ...(annotations === undefined ? {} : { annotations }),
    ...(alwaysLoad ? { _meta: { "anthropic/alwaysLoad": true } } : {}),
  };
}

function jsonSchemaOf(schema: z.ZodType, io: "input" | "output"): Tool["inputSchema"] {
  // the protocol fixes the dialect, and its address costs tokens
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    io,
    // an answer may gain fields
    override: ({ jsonSchema }) => void (io === "output" && delete jsonSchema.additionalProperties),
  });
  return rest as Tool["inputSchema"];
}

/** Never rejects: a thrown error becomes the answer, in one sentence. */
export async function runTool(tool: McpTool, input: unknown, call: McpCall): Promise<CallToolResult> {
  const {
    text,
    value,
    isError = false,
  } = await Promise.resolve()
    .then(() => tool.run(input, call))
    .catch((error: unknown): ToolAnswer => ({ text: sentenceOf(tool, error), isError: true }));
  return {
    content: [{ type: "text", text }],
    ...(value === undefined ? {} : { structuredContent: value }),
    ...(isError ? { isError } : {}),
  };
}

function sentenceOf(tool: McpTool, error: unknown): string {
  if (error instanceof LoopError) return [error.message, error.hint].filter(Boolean).join(" ");
  return cleanLine(`${tool.name} failed: ${error instanceof Error ? error.message : String(error)}`);
}
