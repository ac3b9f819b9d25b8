/** The conversations of one peer: opens them, resumes them and sets their mode and model. */
import type { Conversation, ToolAccess, ToolServer, Turn } from "../../../ports/agent.ts";
import type { AcpProfile } from "../profiles.ts";
import type { SessionTotals } from "../usage.ts";
import { loggedIn } from "./login.ts";
import { type OpenedSession, parseSession, type Setting } from "./messages.ts";
import { type AcpRequests, type Peer, PeerGone, PeerSilent } from "./peer.ts";
import { bridgeOf } from "./tool-bridge.ts";

export interface Session {
  readonly id: string;
  /** The engine's tools for this conversation; null: none. */
  readonly access: ToolAccess | null;
  totals: SessionTotals;
  mode: Setting | null;
  model: Setting | null;
}

export interface SessionStart {
  readonly session: Session;
  /** The session knows nothing of an earlier conversation. */
  readonly isFresh: boolean;
}

/** The agent does not have the model that the person named. */
export class UnknownModel extends Error {}

const QUIET_MS = 100;
const LONGEST_REPEAT_MS = 3_000;

/** Resumes `conversation`, or opens a fresh session when that is not possible. Rejects like `Peer.request`. */
export async function openSession(
  peer: Peer,
  profile: AcpProfile,
  projectDir: string,
  conversation: Conversation | null,
  toolServer: ToolServer | null,
  env: NodeJS.ProcessEnv,
  withinMs: number,
): Promise<SessionStart> {
  // without tools the agent reports in its last message
  const access = (await toolServer?.open().catch(() => null)) ?? null;
  access?.bind(peer.process.ref);
  const mcpServers = access === null ? [] : [peer.can.httpTools ? serverOf(access) : bridgeOf(access)];
  const place = { cwd: projectDir, mcpServers };
  try {
    return await loggedIn(peer, profile, env, withinMs, async () => {
      const again = conversation === null ? null : await takeUp(peer, conversation.id, place, withinMs);
      if (conversation !== null && again !== null) {
        const costUsd = profile.cost === "conversation" ? conversation.costUsd : null;
        const session = { ...again, id: conversation.id, access, totals: { costUsd, tokens: null } };
        return { session, isFresh: false };
      }
      const opened = parseSession(await peer.request("session/new", place, withinMs));
      const id = opened.sessionId;
      if (id === null) throw new Error("the agent opened a session without an id");
      return { session: { ...opened, id, access, totals: { costUsd: null, tokens: null } }, isFresh: true };
    });
  } catch (error) {
    access?.close();
    throw error;
  }
}

/** Sets the mode and the model for the turn. Rejects with `UnknownModel`, or like `Peer.request`. */
export async function settle(
  peer: Peer,
  profile: AcpProfile,
  session: Session,
  turn: Turn,
  withinMs: number,
): Promise<void> {
  takeIn(peer, session);
  const mode = wantedMode(profile, session, turn);
  if (mode !== null) await setMode(peer, session, mode, withinMs);
  if (turn.model === undefined || session.model === null) return;
  const model = findModel(session.model, turn.model);
  if (model === null) throw new UnknownModel(describeModels(turn.model, session.model));
  await choose(peer, session, "model", model, withinMs);
}

/** Sets the mode if the session has another one. Rejects like `Peer.request`, or if the agent refuses. */
export async function setMode(peer: Peer, session: Session, mode: string, withinMs: number): Promise<void> {
  await choose(peer, session, "mode", mode, withinMs);
  const { current } = session.mode ?? {};
  if (current !== mode) throw new Error(`the agent stays in its mode "${current}" instead of "${mode}"`);
}

/** null: the agent has no such mode, and its own mode stays. */
export function wantedMode({ modes }: AcpProfile, { mode }: Session, turn: Turn): string | null {
  const wanted = turn.env.LOOP_ROLE === "generator" ? modes?.work : modes?.look;
  return mode?.choices.find(({ value }) => value === wanted)?.value ?? null;
}

/** Takes in what the agent changed by itself. */
export function takeIn(peer: Peer, session: Session): void {
  for (const update of peer.takeChanges(session.id)) {
    if (update.sessionUpdate === "config_option_update") takeOptions(session, update);
    else if (session.mode !== null) session.mode = { ...session.mode, current: update.currentModeId };
  }
}

function takeOptions(session: Session, told: unknown): void {
  const { mode, model } = parseSession(told);
  session.model = model ?? session.model;
  if (mode === null) return;
  if (session.mode?.via !== "mode") session.mode = mode;
  // some agents have modes and an option with the same values
  else if (session.mode.choices.some(({ value }) => value === mode.current))
    session.mode = { ...session.mode, current: mode.current };
}

type Place = AcpRequests["session/new"];

function serverOf({ url, headers }: ToolAccess): Place["mcpServers"][number] {
  const list = Object.entries(headers).map(([name, value]) => ({ name, value }));
  return { type: "http", name: "loopwright", url, headers: list };
}

/** null: the agent no longer has the session, or cannot resume any. */
async function takeUp(
  peer: Peer,
  sessionId: string,
  place: Place,
  withinMs: number,
): Promise<OpenedSession | null> {
  // `session/resume` does not repeat the conversation
  const methods = [
    ...(peer.can.resume ? ["session/resume" as const] : []),
    ...(peer.can.load ? ["session/load" as const] : []),
  ];
  for (const method of methods) {
    try {
      const opened = parseSession(await peer.request(method, { sessionId, ...place }, withinMs));
      if (method === "session/load") await quiet(peer);
      return opened;
    } catch (error) {
      if (error instanceof PeerGone || error instanceof PeerSilent) throw error;
    }
  }
  return null;
}

/** Some agents repeat the conversation after the answer. That is not part of the turn: waits until it ends. */
function quiet(peer: Peer): Promise<void> {
  return new Promise((done) => {
    const end = (): void => {
      clearTimeout(timer);
      clearTimeout(longest);
      peer.listen(null);
      done();
    };
    let timer = setTimeout(end, QUIET_MS);
    const longest = setTimeout(end, LONGEST_REPEAT_MS);
    peer.listen({
      onBytes() {
        clearTimeout(timer);
        timer = setTimeout(end, QUIET_MS);
      },
      onUpdate() {},
      onPermission: async () => ({ outcome: "cancelled" }),
    });
    void peer.gone.then(end);
  });
}

async function choose(
  peer: Peer,
  session: Session,
  name: "mode" | "model",
  value: string,
  withinMs: number,
): Promise<void> {
  const setting = session[name];
  const sessionId = session.id;
  if (setting === null || setting.current === value) return;
  const set = {
    mode: () => peer.request("session/set_mode", { sessionId, modeId: value }, withinMs),
    model: () => peer.request("session/set_model", { sessionId, modelId: value }, withinMs),
    option: () =>
      peer.request("session/set_config_option", { sessionId, configId: setting.id, value }, withinMs),
  };
  const told = await set[setting.via]();
  session[name] = { ...setting, current: value };
  // the answer has all options, as they are now
  if (setting.via === "option") takeOptions(session, told);
}

/** Finds a model by its id, by its name, or by the id without `provider/` and `[…]`. */
function findModel({ choices }: Setting, wanted: string): string | null {
  const name = wanted.toLowerCase();
  const fits = (text: string): boolean => text.toLowerCase() === name;
  const found =
    choices.find(({ value }) => fits(value)) ??
    choices.find((choice) => fits(choice.name)) ??
    choices.find(({ value }) => fits(value.replace(/\[[^\]]*\]$/, ""))) ??
    choices.find(({ value }) => fits(value.slice(value.lastIndexOf("/") + 1)));
  return found?.value ?? null;
}

function describeModels(wanted: string, { choices }: Setting): string {
  const names = choices.map(({ value }) => value);
  const list = names.length > 12 ? [...names.slice(0, 12), "…"] : names;
  return `unknown model "${wanted}". Available models: ${list.join(", ")}`;
}
