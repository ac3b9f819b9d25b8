/** The commands that install Loopwright in clients, find problems and record trust. */
import { type Add, yesOption } from "../flags/options.ts";
import { TRUST_HELP } from "../help.ts";
import type { Act } from "../program-parts.ts";

export function addInstallCommands(add: Add, act: Act): void {
  const install = add(
    "install <client>",
    "install loops in a client: claude, pi, codex, gemini, cursor, opencode, copilot",
  )
    .option("--scope <scope>", "user (default: for you) or project (for everybody in this project)")
    .option("--cap", "claude: lift the limit of 8 turns without a tool call, in this project's settings")
    .option("--no-cap", "claude: keep that limit and do not ask")
    .option("--status-line", "claude: show loops in the status line, unless you already have one");
  yesOption(install)
    .option("--dry-run", "show the changes to the client's files; write nothing (not for claude and pi)")
    .action(act(async () => (await import("./install.ts")).installCommand));
  add("uninstall <client>", "remove what `loop install` added to a client")
    .option("--scope <scope>", "user or project (default: both)")
    .option("--dry-run", "show what would be removed; remove nothing (not for claude and pi)")
    .action(act(async () => (await import("./uninstall.ts")).uninstallCommand));
  add("doctor", "find problems in your setup and show how to fix them").action(
    act(async () => (await import("./doctor.ts")).doctorCommand),
  );
}

export function addTrustCommand(add: Add, act: Act): void {
  yesOption(add("trust", "allow commands that came with this repository (shows them, asks first)"))
    .option("--revoke", "no longer trust the files of this project")
    .option("--list", "list the trusted files of all projects")
    .addHelpText("after", TRUST_HELP)
    .action(act(async () => (await import("./trust.ts")).trustCommand));
}
