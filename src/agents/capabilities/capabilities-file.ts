/** The file `.loop/capabilities.json`. */
import * as z from "zod";
import { parseJson } from "../quietly.ts";

const programSchema = z.object({
  name: z.string(),
  path: z.string(),
  /** null: unknown. */
  version: z.string().nullable(),
  /** Time of the last change of the file; shows an update. */
  changedAt: z.number(),
});

const serverSchema = z.object({
  name: z.string(),
  client: z.string(),
  transport: z.enum(["stdio", "http", "sse", "ws", "unknown"]),
  where: z.string(),
  /** null: the client would ask first. */
  enabled: z.boolean().nullable(),
});

const problemSchema = z.object({ where: z.string(), problem: z.string() });

const capabilitiesSchema = z.object({
  version: z.literal(1),
  at: z.iso.datetime(),
  agents: z.array(programSchema),
  tools: z.array(programSchema),
  mcpServers: z.array(serverSchema),
  problems: z.array(problemSchema),
});

export type Capabilities = z.infer<typeof capabilitiesSchema>;
export type Program = z.infer<typeof programSchema>;
export type McpServer = z.infer<typeof serverSchema>;
export type Problem = z.infer<typeof problemSchema>;

/** null: not a valid file. */
export function parseCapabilities(text: string): Capabilities | null {
  return capabilitiesSchema.safeParse(parseJson(text)).data ?? null;
}
