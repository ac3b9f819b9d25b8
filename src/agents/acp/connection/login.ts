/** The login of an agent that refuses to work without one. No browser and no terminal is opened here. */
import { foldLine } from "../../display.ts";
import { AUTH_REQUIRED } from "../failures/failure-class.ts";
import type { AcpProfile } from "../profiles.ts";
import type { LoginMethod } from "./messages.ts";
import type { Peer } from "./peer.ts";
import { WireError } from "./wire.ts";

/**
 * Runs `work`. If the agent asks for a login, logs in once with a key from the environment and runs `work` again.
 * Otherwise rejects with the names of the agent's methods.
 */
export async function loggedIn<T>(
  peer: Peer,
  profile: AcpProfile,
  env: NodeJS.ProcessEnv,
  withinMs: number,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const method = asksForLogin(error) ? findKeyMethod(peer.can.logins, profile, env) : null;
    if (method === null) throw nameMethods(error, peer.can.logins);
    try {
      await peer.request("authenticate", { methodId: method.id }, withinMs);
    } catch (refusal) {
      if (!(refusal instanceof WireError)) throw refusal;
      const reason = `${titleOf(method)} failed: ${foldLine(refusal.message)}`;
      throw nameMethods(new WireError(AUTH_REQUIRED, reason, undefined), peer.can.logins);
    }
    return work().catch((again: unknown) => {
      throw nameMethods(again, peer.can.logins);
    });
  }
}

/** The error itself, or the error with the methods that a person can log in with. */
export function nameMethods(error: unknown, methods: readonly LoginMethod[]): unknown {
  if (!asksForLogin(error) || methods.length === 0) return error;
  const names = methods.map(titleOf).join(", ");
  const text = `${foldLine(error.message)}; start the agent once by itself and log in (methods: ${names})`;
  return new WireError(error.code, text, error.data);
}

function asksForLogin(error: unknown): error is WireError {
  return error instanceof WireError && error.code === AUTH_REQUIRED;
}

/** A key must be in the environment: a login without one can change the person's settings and then fail. */
function findKeyMethod(
  methods: readonly LoginMethod[],
  { keyMethods }: AcpProfile,
  env: NodeJS.ProcessEnv,
): LoginMethod | null {
  const hasKey = ({ id, type, vars, _meta }: LoginMethod): boolean => {
    const known = keyMethods?.[id];
    if (known !== undefined) return known.some((name) => env[name]);
    if (type === "env_var") return vars?.every(({ name, optional }) => optional || env[name]) ?? false;
    return keyMethods === undefined && _meta?.["api-key"] !== undefined;
  };
  return methods.find(hasKey) ?? null;
}

function titleOf({ id, name }: LoginMethod): string {
  return foldLine(name === undefined || name === id ? id : `${name} (${id})`);
}
