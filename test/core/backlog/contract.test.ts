import { expect, test } from "vitest";
import { CONTRACT_TEMPLATE } from "../../../src/core/backlog/prd/contract.ts";

test("C2 the template of a contract has its six sections, each with a hint", () => {
  expect([...CONTRACT_TEMPLATE.matchAll(/^## (.+)\n<!-- .+ -->$/gm)].map(([, title]) => title)).toEqual([
    "What Will Be Built",
    "Done Conditions",
    "Evaluation Criteria",
    "Out of Scope",
    "Key Files",
    "Dependencies",
  ]);
});
