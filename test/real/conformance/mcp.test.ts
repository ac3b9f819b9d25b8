/**
 * F6 the official conformance suite of MCP against our HTTP server. `npm run test:conformance` installs the suite and a
 * Node that it needs (22), and LOOP_TEST_CONFORMANCE=required makes their absence a failure.
 */
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createServer, request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { listenMcp } from "../../../src/hosts/mcp/http.ts";
import type { McpOffer } from "../../../src/hosts/mcp/offer.ts";
import { clientFolder, installCommand } from "../../support/agents/installed.ts";

/** Scenarios of what we offer: tools that answer with text, with and without a handshake. */
const WITH_HANDSHAKE = ["server-initialize", "ping", "server-session-lifecycle"];
const WITHOUT_HANDSHAKE = ["server-stateless", "caching", "http-header-validation"];
const EITHER_WAY = [
  "tools-list",
  "tools-call-simple-text",
  "tools-call-error",
  "tools-call-with-progress",
  "dns-rebinding-protection",
];
const OURS = [
  ...[...WITH_HANDSHAKE, ...EITHER_WAY].map((scenario) => [scenario, "2025-11-25"] as const),
  ...[...WITHOUT_HANDSHAKE, ...EITHER_WAY].map((scenario) => [scenario, "2026-07-28"] as const),
];

/** Scenarios of what we do not offer, and why. */
const NOT_OURS: Readonly<Record<string, readonly string[]>> = {
  "we have no prompts": [
    "prompts-list",
    "prompts-get-simple",
    "prompts-get-with-args",
    "prompts-get-embedded-resource",
    "prompts-get-with-image",
    "completion-complete",
    "input-required-result-non-tool-request",
  ],
  "we have no resources": [
    "resources-list",
    "resources-read-text",
    "resources-read-binary",
    "resources-templates-read",
    "resources-subscribe",
    "resources-unsubscribe",
    "tools-call-embedded-resource",
    "sep-2164-resource-not-found",
    "sep-2640-skills-directory",
    "sep-2640-skills-enumeration",
    "sep-2640-skills-manifest",
  ],
  "our tools answer with text only": ["tools-call-image", "tools-call-audio", "tools-call-mixed-content"],
  "we ask the client for nothing": [
    "tools-call-sampling",
    "tools-call-elicitation",
    "elicitation-sep1034-defaults",
    "elicitation-sep1330-enums",
    "input-required-result-basic-elicitation",
    "input-required-result-basic-sampling",
    "input-required-result-basic-list-roots",
    "input-required-result-request-state",
    "input-required-result-multiple-input-requests",
    "input-required-result-multi-round",
    "input-required-result-missing-input-response",
    "input-required-result-result-type",
    "input-required-result-unsupported-methods",
    "input-required-result-tampered-state",
    "input-required-result-capability-check",
    "input-required-result-ignore-extra-params",
    "input-required-result-validate-input",
  ],
  "our calls take no longer than their connection": [
    "tasks-lifecycle",
    "tasks-capability-negotiation",
    "tasks-wire-fields",
    "tasks-request-state-removal",
    "tasks-mrtr-input",
    "tasks-request-headers",
    "tasks-dispatch-and-envelope",
    "tasks-status-notifications",
    "tasks-required-task-error",
    "tasks-mrtr-composition",
  ],
  "no parameter of ours is for a proxy": ["http-custom-header-server-validation"],
  "we send nothing but progress": [
    "tools-call-with-logging",
    "logging-set-level",
    "server-sse-polling",
    "server-sse-multiple-streams",
  ],
  "we leave $schema out: 2020-12 is the default, and its address costs tokens": ["json-schema-2020-12"],
};

/** Checks of scenarios that are ours, for what we do not offer. */
const PARTS_NOT_OURS: Readonly<Record<string, readonly string[]>> = {
  // no tool of ours needs a capability of the client
  "server-stateless": [
    "sep-2575-server-rejects-undeclared-capability",
    "sep-2575-missing-capability-http-400",
  ],
  // we have no prompts and no resources
  caching: [
    "sep-2549-prompts-list-caching-hints",
    "sep-2549-resources-list-caching-hints",
    "sep-2549-resources-templates-list-caching-hints",
  ],
};

const SUITE = { description: "For the suite", schema: z.strictObject({}) };

const OFFER: McpOffer = {
  name: "loopwright",
  version: "1.2.3",
  tools: [
    {
      ...{ name: "test_simple_text", description: "Returns a text", schema: z.strictObject({}) },
      run: async () => ({ text: "This is a simple text response for testing." }),
    },
    {
      ...{ name: "test_error_handling", description: "Fails", schema: z.strictObject({}) },
      run: () => {
        throw new Error("This tool intentionally returns an error for testing");
      },
    },
    {
      ...{ name: "test_tool_with_progress", ...SUITE },
      run: async (_, { onProgress }) => {
        for (const progress of [0, 50, 100]) onProgress?.({ progress, total: 100 });
        return { text: "Done." };
      },
    },
    // the suite looks at what a server sends beside an answer: ours sends nothing
    { name: "test_logging_tool", ...SUITE, run: async () => ({ text: "Done." }) },
    { name: "test_streaming_elicitation", ...SUITE, run: async () => ({ text: "Done." }) },
  ],
};

const NODE = `node_modules/node-${process.platform}-${process.arch}/bin/node`;
const node = [NODE, NODE.replace("node-", "node-bin-")]
  .map((path) => join(clientFolder("node"), path))
  .find((path) => existsSync(path));
const suite = join(
  clientFolder("mcp-conformance"),
  "node_modules/@modelcontextprotocol/conformance/dist/index.js",
);
const isThere = node !== undefined && existsSync(suite);
const isRequired = process.env.LOOP_TEST_CONFORMANCE === "required";

test.runIf(isRequired)("the conformance suite is installed", () => {
  expect(isThere, installCommand("node", "mcp-conformance")).toBe(true);
});

/** The suite knows no tokens: this adds ours, and passes on everything else as it came. */
async function open(): Promise<string> {
  const http = await listenMcp();
  const { headers } = http.admit(() => OFFER);
  const inner = Number(new URL(http.url).port);
  const proxy = createServer((asked, response) => {
    const outer = String((proxy.address() as AddressInfo).port);
    const named = { host: asked.headers.host, origin: asked.headers.origin };
    const renamed = Object.fromEntries(
      Object.entries(named).flatMap(([name, value]) =>
        value === undefined ? [] : [[name, value.replace(`:${outer}`, `:${inner}`)]],
      ),
    );
    const passed = httpRequest(
      {
        host: "127.0.0.1",
        port: inner,
        path: asked.url,
        method: asked.method,
        headers: { ...asked.headers, ...renamed, ...headers },
      },
      (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(response);
      },
    );
    passed.on("error", () => response.destroy());
    asked.pipe(passed);
  });
  await new Promise<void>((listening) => proxy.listen(0, "127.0.0.1", listening));
  onTestFinished(async () => {
    proxy.closeAllConnections();
    proxy.close();
    await http.close();
  });
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/mcp`;
}

async function runSuite(...args: readonly string[]): Promise<{ code: number | null; said: string }> {
  const folder = mkdtempSync(join(tmpdir(), "loop-conformance-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const child = spawn(node ?? "", [suite, ...args], {
    ...{ cwd: folder, env: { PATH: process.env.PATH, HOME: folder } },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      said += text;
    });
  const code = await new Promise<number | null>((closed) => child.on("close", closed));
  return { code, said };
}

describe.runIf(isRequired)("F6 MCP conformance", () => {
  test("every scenario of the suite is ours, or it is said why not", async () => {
    const { said } = await runSuite("list", "--server");
    const scenarios = [...said.matchAll(/^ {2}- ([\w-]+)/gm)].map(([, name]) => name);
    expect(scenarios.sort()).toEqual(
      [...WITH_HANDSHAKE, ...WITHOUT_HANDSHAKE, ...EITHER_WAY, ...Object.values(NOT_OURS).flat()].sort(),
    );
  });

  test("the suite notices what a server does not offer", async () => {
    const { code } = await runSuite("server", "--url", await open(), "--scenario", "prompts-list");
    expect(code).not.toBe(0);
  });

  test.each(OURS)("our server conforms: %s in %s", async (scenario, version) => {
    const args = ["--scenario", scenario, "--spec-version", version];
    const { code, said } = await runSuite("server", "--url", await open(), ...args);
    expect(said).toMatch(/[1-9]\d* passed|Passed: [1-9]\d*\/\d+/);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the suite colours its output
    const lines = said.replace(/\x1b\[\d*m/g, "").split("\n");
    const failed = lines.flatMap((line) => /\[([\w-]+) *\] +(?:FAILURE|WARNING)/.exec(line)?.[1] ?? []);
    const expected = PARTS_NOT_OURS[scenario] ?? [];
    expect({ code, failed, said }).toEqual({ code: expected.length > 0 ? 1 : 0, failed: expected, said });
  });
});
