/** A minimal view of a run: notices, problems and questions. */
import { reasonOf } from "../../errors.ts";
import type { Io } from "../io.ts";
import { oneLine } from "../render/table.ts";
import { createAsker } from "./hold.ts";
import { renderNotice } from "./lines.ts";
import { askPermission } from "./question.ts";
import type { RunView } from "./view.ts";

export function createPlainView(io: Io): RunView {
  const ask = createAsker(io);
  return {
    notify: (title, body) => io.say(renderNotice(title, body, io)),
    problem: (error) => io.say(oneLine(reasonOf(error))),
    askPermission: (question, withdrawn) => ask(() => askPermission(question, withdrawn)),
  };
}
