/**
 * Which protocol a request speaks. Up to 2025-11-25 a client agrees on a version with `initialize`. Since 2026-07-28
 * every request names its version and the client's capabilities in `_meta`, over HTTP also in headers. Both are served
 * side by side; the request itself decides.
 */
import type { IncomingHttpHeaders } from "node:http";
import * as z from "zod";
import { INVALID_PARAMS, type McpRequest, type Params, renderRpcError } from "./message.ts";

/** Newest first. For tools, all of them are the same. */
export const HANDSHAKE_VERSIONS: readonly [string, ...string[]] = [
  "2025-11-25",
  "2025-06-18",
  "2025-03-26",
  "2024-11-05",
];
export const STATELESS_VERSION = "2026-07-28";
const VERSIONS = [STATELESS_VERSION, ...HANDSHAKE_VERSIONS];

const KEY = "io.modelcontextprotocol";
export const SERVER_INFO = `${KEY}/serverInfo`;
const VERSION = `${KEY}/protocolVersion`;
const CAPABILITIES = `${KEY}/clientCapabilities`;

const HEADER_MISMATCH = -32020;
const UNSUPPORTED_VERSION = -32022;

export type Era =
  | { readonly kind: "handshake" | "stateless" }
  /** `answer`: the error for the client. Over HTTP its status is 400. */
  | { readonly kind: "wrong"; readonly answer: string };

const Meta = z.record(z.string(), z.unknown());

export function eraOf({ id, params }: McpRequest): Era {
  const { [VERSION]: version, [CAPABILITIES]: capabilities } = metaOf(params);
  if (version === undefined) return { kind: "handshake" };
  if (typeof version !== "string") return wrong(id, INVALID_PARAMS, `_meta: ${VERSION} must be a string.`);
  if (version !== STATELESS_VERSION) return unsupported(id, version, [STATELESS_VERSION]);
  if (!Meta.safeParse(capabilities).success)
    return wrong(id, INVALID_PARAMS, `_meta: ${CAPABILITIES} must be an object.`);
  return { kind: "stateless" };
}

/** The same over HTTP, where headers must repeat what the body says. */
export function eraOverHttp(request: McpRequest, headers: IncomingHttpHeaders): Era {
  const { id, method, params } = request;
  const version = metaOf(params)[VERSION];
  const header = headers["mcp-protocol-version"];
  if (version === undefined && header !== STATELESS_VERSION)
    return isKnownVersion(header) ? { kind: "handshake" } : unsupported(id, String(header), VERSIONS);
  if (version === undefined) return wrong(id, INVALID_PARAMS, `_meta: ${VERSION} is missing.`);
  if (header !== version) return mismatch(id, "MCP-Protocol-Version", `_meta, ${VERSION}`);
  const era = eraOf(request);
  if (era.kind === "wrong") return era;
  if (headers["mcp-method"] !== method) return mismatch(id, "Mcp-Method", "method");
  if (method === "tools/call" && decodeHeader(headers["mcp-name"]) !== params.name)
    return mismatch(id, "Mcp-Name", "params.name");
  return era;
}

/** A header that is left out means an old version. */
export function isKnownVersion(header: string | readonly string[] | undefined): boolean {
  return header === undefined || VERSIONS.some((known) => known === header);
}

function metaOf({ _meta }: Params): Readonly<Record<string, unknown>> {
  return Meta.safeParse(_meta).data ?? {};
}

/** Names that a header cannot carry are in Base64. null: missing or not valid. */
function decodeHeader(header: string | readonly string[] | undefined): string | null {
  if (typeof header !== "string") return null;
  const [, encoded] = /^=\?base64\?(.*)\?=$/.exec(header) ?? [];
  if (encoded === undefined) return header;
  const bytes = Buffer.from(encoded, "base64");
  return bytes.toString("base64") === encoded ? bytes.toString("utf8") : null;
}

function wrong(id: McpRequest["id"], code: number, message: string, data?: object): Era {
  return { kind: "wrong", answer: renderRpcError(id, code, message, data) };
}

function mismatch(id: McpRequest["id"], header: string, field: string): Era {
  return wrong(id, HEADER_MISMATCH, `The header ${header} must say the same as the body (${field}).`);
}

function unsupported(id: McpRequest["id"], requested: string, supported: readonly string[]): Era {
  const message = `This protocol version is not supported. Supported: ${supported.join(", ")}.`;
  return wrong(id, UNSUPPORTED_VERSION, message, { supported, requested });
}
