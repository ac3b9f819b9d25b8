/** What is wrong in a person's file, as a sentence for that person. The sentence has no full stop. */
import type * as z from "zod";

export interface Invalid {
  readonly kind: "invalid";
  readonly message: string;
}

/** The first fault, after its place in the file: `agents.planner.model: it is empty`. */
export function renderFault(
  { issues: [issue] }: z.ZodError,
  placeOf: (path: readonly PropertyKey[]) => string = (path) => path.map(String).join("."),
): string {
  const place = placeOf(issue?.path ?? []);
  const message = issue?.message ?? "it is not valid";
  return place === "" ? message : `${place}: ${message}`;
}

/** The content of a text of JSON as `parse` reads it. */
export function parseJsonText<Result>(text: string, parse: (content: unknown) => Result): Result | Invalid {
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch (error) {
    return { kind: "invalid", message: `not JSON: ${(error as Error).message}` };
  }
  return parse(content);
}

/** The sentence for a fault that zod itself found. A message in the schema takes precedence. */
export function faultOf(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case "invalid_type":
      return issue.input === undefined
        ? "it is missing"
        : `expected ${EXPECTED[issue.expected] ?? issue.expected}, found ${nameOf(issue.input)}`;
    case "invalid_value":
      return `expected ${issue.values
        .map(String)
        .join(", ")
        .replace(/, ([^,]*)$/, " or $1")}`;
    case "unrecognized_keys":
      return `there is no setting "${issue.keys[0]}" here`;
    default:
      return undefined;
  }
}

const EXPECTED: Readonly<Record<string, string>> = {
  string: "text",
  boolean: "true or false",
  array: "a list",
  object: "an object",
};

function nameOf(input: unknown): string {
  if (input === null) return "null";
  if (Array.isArray(input)) return "a list";
  return typeof input === "string" ? "text" : typeof input === "object" ? "an object" : String(input);
}
