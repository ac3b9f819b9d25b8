/** Commands for clients, agents, the story registry and debugging (D8, D11, D12), with their flags and help. */
import { type Command, Option } from "commander";
import { agentOptions, collect, HIDDEN, projectCommand } from "../flags/options.ts";
import type { ProgramParts } from "../program-parts.ts";

export function addHostCommands(program: Command, parts: ProgramParts): void {
  addClientPrograms(program, parts);
  addAgentCommands(program, parts);
  addRegistryCommands(program, parts);
  addDebugCommands(program, parts);
}

/** Commands that clients start. */
function addClientPrograms(program: Command, { io, act }: ProgramParts): void {
  program
    .command("statusline", HIDDEN)
    .description("print the status line; a client sends its JSON on stdin")
    .option("--json", "accepted and ignored; the output is always one line")
    .action(
      act(async () => {
        await import("./statusline.ts");
        return 0;
      }),
    );

  projectCommand(program, "mcp", "serve the tools for agents to an MCP client over stdin and stdout").action(
    act(async (flags) => (await import("./mcp.ts")).mcpCommand(flags, io)),
  );

  program
    .command("hook <client> <event>", HIDDEN)
    .description("handle one client event: JSON on stdin, answer on stdout")
    .action(
      act(async (_flags, [client = "", event = ""]) =>
        (await import("./hook.ts")).hookCommand(client, event),
      ),
    );

  program
    .command("demo-agent", HIDDEN)
    .description("serve the demo's agent to an ACP client over stdin and stdout")
    .action(act(async () => (await import("../demo/demo-agent.ts")).demoAgentCommand(io)));
}

function addAgentCommands(program: Command, { io, act }: ProgramParts): void {
  projectCommand(program, "capabilities", "list the agents, tools and MCP servers that loops can use")
    .option("--refresh", "check the version of every program again")
    .action(act(async (flags) => (await import("../agents/capabilities.ts")).capabilitiesCommand(flags, io)));

  const agents = projectCommand(
    program,
    "agents",
    "list installed agents and how loop drives each of them",
  ).action(act(async (flags) => (await import("../agents/agents.ts")).agentsCommand(flags, io)));
  agentOptions(
    projectCommand(agents, "test [name]", "run four short turns to see if an agent works with loops"),
  ).action(
    act(async (flags, [name]) =>
      (await import("../agents/agents-test.ts")).agentsTestCommand(name, flags, io),
    ),
  );

  projectCommand(program, "prices [model]", "show token prices, used for agents that report no cost").action(
    act(async (flags, [model]) => (await import("../agents/prices.ts")).pricesCommand(model, flags, io)),
  );
}

function addRegistryCommands(program: Command, { io, act }: ProgramParts): void {
  projectCommand(program, "register-task [words...]", "add a story to .loop/prd.json: [id] <title>", HIDDEN)
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
    .action(
      act(async (flags, words) => (await import("./registry.ts")).registerTaskCommand(words, flags, io)),
    );
  projectCommand(
    program,
    "mark-complete <id>",
    "mark a story as done without running its checks",
    HIDDEN,
  ).action(
    act(async (flags, [id = ""]) => (await import("./registry.ts")).markCompleteCommand(id, flags, io)),
  );
  projectCommand(program, "mark-blocked <id>", "stop work on a story until you unblock it", HIDDEN)
    .option("--reason <text>", "why the story is blocked")
    .option("--undo", "unblock the story and reset its attempts")
    .action(
      act(async (flags, [id = ""]) => (await import("./registry.ts")).markBlockedCommand(id, flags, io)),
    );
  projectCommand(
    program,
    "next-task",
    "show the next story to work on; exit 3 when there is none",
    HIDDEN,
  ).action(act(async (flags) => (await import("./registry.ts")).nextTaskCommand(flags, io)));
}

function addDebugCommands(program: Command, { io, act }: ProgramParts): void {
  projectCommand(program, "route", "show what happens if a conversation stops now, and why; changes nothing")
    .option("--session <id>", "the conversation (default: this one, else the newest goal's)")
    .action(act(async (flags) => (await import("./route.ts")).routeCommand(flags, io)));

  untilOptions(
    program,
    program
      .command("setup-loop [words...]", HIDDEN)
      .description("bind a goal loop to a conversation; takes the flags of until")
      .requiredOption("--session <id>", "the conversation's id in the client"),
  ).action(act(async (flags, words) => (await import("./setup-loop.ts")).setupLoopCommand(words, flags, io)));
  projectCommand(
    program,
    "teardown-loop [goal]",
    "cancel a goal loop and remove its turn from the conversation; keeps its state",
    HIDDEN,
  ).action(act(async (flags, [id]) => (await import("./setup-loop.ts")).teardownLoopCommand(id, flags, io)));

  projectCommand(program, "heartbeat", "write a heartbeat for the process that holds the lease", HIDDEN)
    .option("--owner <owner>", "only if this owner holds the lease, such as session:<id>")
    .action(act(async (flags) => (await import("./lease.ts")).heartbeatCommand(flags, io)));
  projectCommand(program, "release-lock", "release a lease whose process has ended", HIDDEN)
    .requiredOption("--owner <owner>", "the owner of the lease, such as session:<id>; see loop list --json")
    .option("--force", "release the lease even if its process is running")
    .action(act(async (flags) => (await import("./lease.ts")).releaseLockCommand(flags, io)));
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
