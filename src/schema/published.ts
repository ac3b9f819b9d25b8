/** Every JSON Schema that the package publishes in `schemas/` (F9). */
import * as z from "zod";
import { configSchema } from "./config.ts";
import { prdSchema } from "./prd.ts";
import { pricesSchema } from "./prices.ts";
import { tasksFileSchema } from "./tasks-file.ts";
import { changeSchema, listSchema, progressSchema, snapshotSchema, stateSchema } from "./views.ts";

type Titled = readonly [title: string, schema: () => object];

const DOCUMENTS: Readonly<Record<string, Titled>> = {
  config: ["The settings of a project: .loop/config.json", () => fromInput(configSchema)],
  prd: ["A backlog: .loop/prd.json", () => fromInput(prdSchema)],
  prices: ["Prices of models: .loop/prices.json", () => fromInput(pricesSchema)],
  tasks: ["Tasks that a person may edit: .loop/tasks.json", () => fromInput(tasksFileSchema)],
  state: ["The newest goal: .loop/state.json", () => fromOutput(stateSchema)],
  progress: ["Progress, for status lines: .loop/progress.json", () => fromOutput(progressSchema)],
  list: ["The output of loop list --json", () => fromOutput(listSchema)],
  snapshot: ["Every loop at one moment, from an observer", () => fromOutput(snapshotSchema)],
  change: ["One change of a loop, from an observer", () => fromOutput(changeSchema)],
};

/** From the file name to the text. */
export function renderSchemas(): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(DOCUMENTS).map(([name, [title, schema]]) => {
      const document = { ...schema(), $id: `loopwright/schemas/${name}.json`, title };
      return [`${name}.json`, `${JSON.stringify(document, null, 2)}\n`];
    }),
  );
}

function fromInput(schema: z.ZodType): object {
  return z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
}

function fromOutput(schema: z.ZodType): object {
  return z.toJSONSchema(schema, { io: "output", unrepresentable: "any", reused: "ref" });
}
