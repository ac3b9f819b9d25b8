/** The commands around hosts: clients, tools, the registry of stories, and what helps to look inside (D8, D11, D12). */

import { type Command, Option } from "commander";
import { collect, type ProgramParts } from "../goals/goal-program.ts";

export function addHostCommands(program: Command, { io, act, common, agentOptions }: ProgramParts): void {
  common(
    program
      .command("install <client>")
      .description("put loops into a client: claude, pi, codex, gemini, cursor, opencode, copilot"),
  )
    .option("--scope <scope>", "user (default), or project: for everybody who works in this folder")
    .option("--cap", "lift the client's cap on stop hooks, in the settings of this folder")
    .option("--no-cap", "leave it, and do not ask")
    .option("--status-line", "show loops in the client's status line, where there is none")
    .option("-y, --yes", "do not ask")
    .option("--dry-run", "show what would change in a client's files (not claude); nothing is written")
    .action(
      act(async (flags, [client = ""]) =>
        (await import("../setup/install.ts")).installCommand(client, flags, io),
      ),
    );
  common(program.command("uninstall <client>").description("take out again what `install` put in"))
    .option("--scope <scope>", "user or project (default: both)")
    .option("--dry-run", "show what would go (not claude); nothing is removed")
    .action(
      act(async (flags, [client = ""]) =>
        (await import("../setup/uninstall.ts")).uninstallCommand(client, flags, io),
      ),
    );
  common(
    program.command("doctor").description("what is missing or in the way, with the fix for each"),
  ).action(act(async (flags) => (await import("../setup/doctor.ts")).doctorCommand(flags, io)));
  program
    .command("statusline", { hidden: true })
    .description("for a client's status line: its JSON on stdin, one line out")
    .option("--json", "accepted and ignored: it is one line")
    .action(
      act(async () => {
        await import("./statusline.ts");
        return 0;
      }),
    );

  common(
    program.command("mcp").description("for MCP clients: the tools for agents, over stdin and stdout"),
  ).action(act(async (flags) => (await import("./mcp.ts")).mcpCommand(flags, io)));

  program
    .command("hook <client> <event>", { hidden: true })
    .description("for clients: one event as JSON on stdin, the answer on stdout")
    .action(
      act(async (_flags, [client = "", event = ""]) =>
        (await import("./hook.ts")).hookCommand(client, event),
      ),
    );

  program
    .command("demo-agent", { hidden: true })
    .description("for clients of the Agent Client Protocol: the agent of the demo, over stdin and stdout")
    .action(act(async () => (await import("../demo/demo-agent.ts")).demoAgentCommand(io)));

  common(program.command("capabilities").description("agents, tools and MCP servers that loops here can use"))
    .option("--refresh", "ask every program for its version again")
    .action(act(async (flags) => (await import("../agents/capabilities.ts")).capabilitiesCommand(flags, io)));

  const agents = common(
    program.command("agents").description("which agents are here, and how each is driven"),
  ).action(act(async (flags) => (await import("../agents/agents.ts")).agentsCommand(flags, io)));
  agentOptions(
    common(agents.command("test [name]").description("four short turns: does it do what loops need of it?")),
  ).action(
    act(async (flags, [name]) =>
      (await import("../agents/agents-test.ts")).agentsTestCommand(name, flags, io),
    ),
  );

  common(
    program
      .command("prices [model]")
      .description("what tokens cost by the tables here, for agents that tell no cost"),
  ).action(
    act(async (flags, [model]) => (await import("../agents/prices.ts")).pricesCommand(model, flags, io)),
  );

  addRegistryCommands(program, { io, act, common });
  addDebugCommands(program, { io, act, common });
}

function addRegistryCommands(
  program: Command,
  { io, act, common }: Pick<ProgramParts, "io" | "act" | "common">,
): void {
  common(
    program
      .command("register-task [words...]", { hidden: true })
      .description("add a story to .loop/prd.json: [id] <title>"),
  )
    .option("--description <text>", "what it is about")
    .option("--criterion <text>", "what must be true at the end (again for more)", collect)
    .option("--check <name=command>", "how the engine finds out (again for more)", collect)
    .option("--depends-on <ids>", "stories that must have passed first, with commas", collect)
    .option("--priority <n>", "1 is first; without one it is last")
    .option("--depth <depth>", "quick, standard or thorough")
    .action(
      act(async (flags, words) => (await import("./registry.ts")).registerTaskCommand(words, flags, io)),
    );
  common(
    program
      .command("mark-complete <id>", { hidden: true })
      .description("a story is done, by a person's word"),
  ).action(
    act(async (flags, [id = ""]) => (await import("./registry.ts")).markCompleteCommand(id, flags, io)),
  );
  common(
    program
      .command("mark-blocked <id>", { hidden: true })
      .description("leave a story out until a person has looked at it"),
  )
    .option("--reason <text>", "why")
    .option("--undo", "take it up again, with all its attempts")
    .action(
      act(async (flags, [id = ""]) => (await import("./registry.ts")).markBlockedCommand(id, flags, io)),
    );
  common(
    program
      .command("next-task", { hidden: true })
      .description("the story that would be picked next; exit 3 when there is none"),
  ).action(act(async (flags) => (await import("./registry.ts")).nextTaskCommand(flags, io)));
}

function addDebugCommands(
  program: Command,
  { io, act, common }: Pick<ProgramParts, "io" | "act" | "common">,
): void {
  common(
    program
      .command("route")
      .description("what would happen if a conversation stopped now, and why; changes nothing"),
  )
    .option("--session <id>", "the conversation (default: this one, or that of the newest goal)")
    .action(act(async (flags) => (await import("./route.ts")).routeCommand(flags, io)));

  untilOptions(
    program,
    program
      .command("setup-loop [words...]", { hidden: true })
      .description("bind a goal loop to a conversation by hand; otherwise like until")
      .requiredOption("--session <id>", "what the client calls the conversation"),
  ).action(act(async (flags, words) => (await import("./setup-loop.ts")).setupLoopCommand(words, flags, io)));
  common(
    program
      .command("teardown-loop [goal]", { hidden: true })
      .description("cancel a goal loop and take its turn out of the conversation; keeps its state"),
  ).action(act(async (flags, [id]) => (await import("./setup-loop.ts")).teardownLoopCommand(id, flags, io)));

  common(
    program
      .command("heartbeat", { hidden: true })
      .description("give the sign of life of who holds the lease, by hand"),
  )
    .option("--owner <owner>", "only if it is held by this one, such as session:<id>")
    .action(act(async (flags) => (await import("./lease.ts")).heartbeatCommand(flags, io)));
  common(
    program.command("release-lock", { hidden: true }).description("release a lease whose holder is gone"),
  )
    .requiredOption("--owner <owner>", "who holds it, such as session:<id>; see loop list --json")
    .option("--force", "also from a holder that is still there")
    .action(act(async (flags) => (await import("./lease.ts")).releaseLockCommand(flags, io)));
}

/** All that `until` takes but what is about running it, which is done elsewhere. */
function untilOptions(program: Command, command: Command): Command {
  const until = program.commands.find((each) => each.name() === "until");
  for (const option of until?.options ?? [])
    if (option.long !== "--detach" && option.long !== "--notify-cmd") command.addOption(option);
  return command.addOption(new Option("--detach", "what it always does").hideHelp());
}
