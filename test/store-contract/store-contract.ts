/** What every store must do, whatever it is made of. See `world.ts` for what a store has to bring along. */
import { describe, onTestFinished } from "vitest";
import { activityContract } from "./activity.ts";
import { crashContract } from "./crashes.ts";
import { historyContract } from "./history.ts";
import { leaseContract } from "./lease.ts";
import { loopsContract } from "./loops.ts";
import { sessionsContract } from "./sessions.ts";
import type { OpenWorld, UseWorld } from "./world.ts";

export function storeContract(name: string, openWorld: OpenWorld): void {
  const use: UseWorld = async () => {
    const world = await openWorld();
    onTestFinished(() => world.close());
    return world;
  };
  describe(`${name}: loops`, () => loopsContract(use));
  describe(`${name}: lease`, () => leaseContract(use));
  describe(`${name}: history`, () => historyContract(use));
  describe(`${name}: sessions`, () => sessionsContract(use));
  describe(`${name}: activity`, () => activityContract(use));
  describe(`${name}: crashes and replay`, () => crashContract(use));
}
