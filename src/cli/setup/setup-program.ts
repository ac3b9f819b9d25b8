/** The commands that put loops into clients, look for what is in the way, and say what is trusted. */
import type { Command } from "commander";
import { projectOptions, yesOption } from "../flags/options.ts";
import { TRUST_HELP } from "../help.ts";
import type { ProgramParts } from "../program-parts.ts";

export function addInstallCommands(program: Command, { io, act }: ProgramParts): void {
  const install = projectOptions(
    program
      .command("install <client>")
      .description("put loops into a client: claude, pi, codex, gemini, cursor, opencode, copilot"),
  )
    .option("--scope <scope>", "user (default), or project: for everybody who works in this folder")
    .option("--cap", "lift the client's cap on stop hooks, in the settings of this folder")
    .option("--no-cap", "leave it, and do not ask")
    .option("--status-line", "show loops in the client's status line, where there is none");
  yesOption(install)
    .option("--dry-run", "show what would change in a client's files (not claude); nothing is written")
    .action(
      act(async (flags, [client = ""]) => (await import("./install.ts")).installCommand(client, flags, io)),
    );
  projectOptions(program.command("uninstall <client>").description("take out again what `install` put in"))
    .option("--scope <scope>", "user or project (default: both)")
    .option("--dry-run", "show what would go (not claude); nothing is removed")
    .action(
      act(async (flags, [client = ""]) =>
        (await import("./uninstall.ts")).uninstallCommand(client, flags, io),
      ),
    );
  projectOptions(
    program.command("doctor").description("what is missing or in the way, with the fix for each"),
  ).action(act(async (flags) => (await import("./doctor.ts")).doctorCommand(flags, io)));
}

export function addTrustCommand(program: Command, { io, act }: ProgramParts): void {
  yesOption(
    projectOptions(
      program
        .command("trust")
        .description("let run what this folder brought along, once you have seen it (asks first)"),
    ),
  )
    .option("--revoke", "trust no file of this project any more")
    .option("--list", "show the files that are trusted, of all projects")
    .addHelpText("after", TRUST_HELP)
    .action(act(async (flags) => (await import("./trust.ts")).trustCommand(flags, io)));
}
