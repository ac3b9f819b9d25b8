// The hooks of the plugin for Claude Code: one table, two forms.
//
// Every event goes to the resident server (a hook that calls a tool of it). Beside that stands a command that decides
// when the server is gone; all it costs otherwise is a shell that looks at two names. On Windows there may be no shell
// that knows this: there node is started, and looks itself.

const SERVER = "plugin:loopwright:loop";
const OUR_TOOLS = "mcp__plugin_loopwright_loop__.*";
const OUR_COMMANDS = "^loopwright:";
/** Checks run while the hook waits. */
const LONG_S = 7200;
const SHORT_S = 60;

const COMMON = ["hook_event_name", "session_id", "prompt_id", "transcript_path", "cwd", "agent_id"];
const TOOL = ["tool_name", "tool_use_id", "tool_input"];

/**
 * fields: what the server is told beside the common ones; null: it cannot be asked at that event.
 * alone: who decides without the server. "project": hook.cjs, where there is a `.loop`; "anywhere": hook.cjs, in every
 * folder; "nobody": without the server there is nothing to decide.
 */
const EVENTS = [
  { event: "SessionStart", fields: null, alone: "project", seconds: SHORT_S },
  // the client gives it 1.5 s, whatever stands here
  { event: "SessionEnd", fields: null, alone: "project", seconds: SHORT_S },
  {
    event: "UserPromptSubmit",
    fields: ["prompt", "source"],
    alone: "project",
    seconds: LONG_S,
    status: "Loopwright",
  },
  {
    // what is typed at us: in a folder without a `.loop` too
    event: "UserPromptExpansion",
    matcher: OUR_COMMANDS,
    fields: ["prompt"],
    alone: "anywhere",
    seconds: LONG_S,
    status: "Loopwright",
  },
  // without the server its tools are not there either
  { event: "PreToolUse", matcher: OUR_TOOLS, fields: TOOL, alone: "nobody", seconds: SHORT_S },
  {
    event: "PostToolUse",
    fields: [...TOOL, "tool_response", "duration_ms"],
    alone: "project",
    seconds: SHORT_S,
  },
  {
    event: "PostToolUseFailure",
    fields: [...TOOL, "error", "duration_ms"],
    alone: "project",
    seconds: SHORT_S,
  },
  {
    event: "Stop",
    fields: ["last_assistant_message"],
    alone: "project",
    seconds: LONG_S,
    status: "Loopwright: checks run",
  },
  {
    event: "StopFailure",
    fields: ["last_assistant_message", "error", "error_details"],
    alone: "project",
    seconds: SHORT_S,
  },
  { event: "Notification", matcher: "idle_prompt", fields: [], alone: "project", seconds: SHORT_S },
];

/** form: "posix" or "windows". */
export function renderHooks(form) {
  const groups = EVENTS.map(({ event, matcher, fields, alone, seconds, status = "Loopwright" }) => {
    const common = { timeout: seconds, statusMessage: status };
    const toServer = fields === null ? [] : [{ ...callServer([...COMMON, ...fields]), ...common }];
    const command = form === "windows" ? startNode(event) : runShell(event, alone, fields !== null);
    const hooks = [...toServer, ...(alone === "nobody" ? [] : [{ ...command, ...common }])];
    return [event, [{ ...(matcher === undefined ? {} : { matcher }), hooks }]];
  });
  return { hooks: Object.fromEntries(groups) };
}

function callServer(fields) {
  const input = Object.fromEntries(fields.map((field) => [field, `\${${field}}`]));
  return { type: "mcp_tool", server: SERVER, tool: "hook", input };
}

function startNode(event) {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the client fills it in
  return { type: "command", command: "node", args: ["${CLAUDE_PLUGIN_ROOT}/bin/hook.cjs", event] };
}

function runShell(event, alone, hasServer) {
  const parts = [
    ...(alone === "project" ? [NO_PROJECT] : []),
    ...(hasServer ? [SERVER_LIVES] : []),
    `exec node "$CLAUDE_PLUGIN_ROOT/bin/hook.cjs" ${event}`,
  ];
  return { type: "command", command: parts.join("; ") };
}

/** Up to the root of the git work tree, as the program itself looks for it. */
const NO_PROJECT = [
  // biome-ignore lint/suspicious/noTemplateCurlyInString: for the shell
  "d=${CLAUDE_PROJECT_DIR:-$PWD}",
  'until [ -e "$d/.loop" ]',
  'do [ -e "$d/.git" ] && exit 0',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: for the shell
  "u=${d%/*}",
  '[ "$u" = "$d" ] && exit 0',
  "d=$u",
  "done",
].join("; ");

/** The server of this very client wrote its pid there. */
const SERVER_LIVES =
  '{ read -r p <"$CLAUDE_PLUGIN_DATA/server-$CLAUDE_PID" && kill -0 "$p"; } 2>/dev/null && exit 0';
