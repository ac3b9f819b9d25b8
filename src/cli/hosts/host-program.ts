/** Commands for clients, agents, the story registry and debugging (D8, D11, D12), with their flags and help. */
import { type Command, Option } from "commander";
import { EXIT } from "../exit-codes.ts";
import { type Add, agentOptions, collect, HIDDEN, projectCommands } from "../flags/options.ts";
import type { Act } from "../program-parts.ts";

export function addHostCommands(program: Command, act: Act): void {
  const add = projectCommands(program);
  addClientPrograms(program, add, act);
  addAgentCommands(add, act);
  addRegistryCommands(add, act);
  addDebugCommands(program, add, act);
}

function addClientPrograms(program: Command, add: Add, act: Act): void {
  program
    .command("statusline", HIDDEN)
    .description("print the status line; a client sends its JSON on stdin")
    .option("--json", "accepted and ignored; the output is always one line")
    .action(
      act(async () => async () => {
        await import("./statusline.ts");
        return EXIT.ok;
      }),
    );

  add("mcp", "serve the tools for agents to an MCP client over stdin and stdout").action(
    act(async () => (await import("./mcp.ts")).mcpCommand),
  );

  program
    .command("hook <client> <event>", HIDDEN)
    .description("handle one client event: JSON on stdin, answer on stdout")
    .action(act(async () => (await import("./hook.ts")).hookCommand));

  program
    .command("demo-agent", HIDDEN)
    .description("serve the demo's agent to an ACP client over stdin and stdout")
    .action(act(async () => (await import("../demo/demo-agent.ts")).demoAgentCommand));
}

function addAgentCommands(add: Add, act: Act): void {
  add("capabilities", "list the agents, tools and MCP servers that loops can use")
    .option("--refresh", "check the version of every program again")
    .action(act(async () => (await import("../agents/capabilities.ts")).capabilitiesCommand));

  const agents = add("agents", "list installed agents and how loop drives each of them").action(
    act(async () => (await import("../agents/agents.ts")).agentsCommand),
  );
  agentOptions(
    projectCommands(agents)("test [name]", "run four short turns to see if an agent works with loops"),
  ).action(act(async () => (await import("../agents/agents-test.ts")).agentsTestCommand));

  add("prices [model]", "show token prices, used for agents that report no cost").action(
    act(async () => (await import("../agents/prices.ts")).pricesCommand),
  );
}

function addRegistryCommands(add: Add, act: Act): void {
  add("register-task [words...]", "add a story to .loop/prd.json: [id] <title>", HIDDEN)
    .option("--description <text>", "what the story is about")
    .option("--criterion <text>", "what must be true at the end (repeatable)", collect)
    .option(
      "--check <name=command>",
      "a command that the engine runs to verify the story (repeatable)",
      collect,
    )
    .option("--depends-on <ids>", "stories that must pass first, separated by commas", collect)
    .option("--priority <n>", "1 is first; stories without a priority come last")
    .option("--depth <depth>", "quick, standard or thorough")
    .action(act(async () => (await import("./registry.ts")).registerTaskCommand));
  add("mark-complete <id>", "mark a story as done without running its checks", HIDDEN).action(
    act(async () => (await import("./registry.ts")).markCompleteCommand),
  );
  add("mark-blocked <id>", "stop work on a story until you unblock it", HIDDEN)
    .option("--reason <text>", "why the story is blocked")
    .option("--undo", "unblock the story and reset its attempts")
    .action(act(async () => (await import("./registry.ts")).markBlockedCommand));
  add("next-task", "show the next story to work on; exit 3 when there is none", HIDDEN).action(
    act(async () => (await import("./registry.ts")).nextTaskCommand),
  );
}

function addDebugCommands(program: Command, add: Add, act: Act): void {
  add("route", "show what happens if a conversation stops now, and why; changes nothing")
    .option("--session <id>", "the conversation (default: this one, else the newest goal's)")
    .action(act(async () => (await import("./route.ts")).routeCommand));

  untilOptions(
    program,
    program
      .command("setup-loop [words...]", HIDDEN)
      .description("bind a goal loop to a conversation; takes the flags of until")
      .requiredOption("--session <id>", "the conversation's id in the client"),
  ).action(act(async () => (await import("./setup-loop.ts")).setupLoopCommand));
  add(
    "teardown-loop [goal]",
    "cancel a goal loop and remove its turn from the conversation; keeps its state",
    HIDDEN,
  ).action(act(async () => (await import("./setup-loop.ts")).teardownLoopCommand));

  add("heartbeat", "write a heartbeat for the process that holds the lease", HIDDEN)
    .option("--owner <owner>", "only if this owner holds the lease, such as session:<id>")
    .action(act(async () => (await import("./lease.ts")).heartbeatCommand));
  add("release-lock", "release a lease whose process has ended", HIDDEN)
    .requiredOption("--owner <owner>", "the owner of the lease, such as session:<id>; see loop list --json")
    .option("--force", "release the lease even if its process is running")
    .action(act(async () => (await import("./lease.ts")).releaseLockCommand));
}

/** The flags of `until`, without those about running it. */
function untilOptions(program: Command, command: Command): Command {
  const until = program.commands.find((each) => each.name() === "until");
  for (const option of until?.options ?? [])
    if (option.long !== "--detach" && option.long !== "--notify-cmd") command.addOption(option);
  return command.addOption(
    new Option("--detach", "accepted and ignored; setup-loop never runs the goal itself").hideHelp(),
  );
}
