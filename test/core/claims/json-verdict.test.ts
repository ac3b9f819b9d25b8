import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseJudgement, parseVerdict, VERDICT_SCHEMA } from "../../../src/core/claims/claims.ts";

const NONCE = "k7f3q9";
const parse = (message: string, nonce = NONCE) => parseJudgement(message, { nonce });
const said = (change: object = {}) =>
  JSON.stringify({ nonce: NONCE, reason: "I ran it.", verdict: "PASS", ...change });

describe("C6 a judge's word as JSON", () => {
  test.each<[string, string, object]>([
    ["PASS", said(), { kind: "pass", reason: "I ran it." }],
    ["REJECT", said({ verdict: "REJECT" }), { kind: "reject", reason: "I ran it." }],
    ["with space around it", `\n  ${said()}\n`, { kind: "pass" }],
    ["of several lines", JSON.stringify(JSON.parse(said()), null, 2), { kind: "pass" }],
    ["with no reason", said({ reason: " \n " }), { kind: "pass", reason: null }],
    ["that quotes a verdict", said({ reason: '{"verdict": "REJECT"}' }), { kind: "pass" }],
    ["the tag", `Seen.\n\n<verdict nonce="${NONCE}">PASS</verdict>`, { kind: "pass" }],
  ])("counts: %s", (_name, message, verdict) => {
    expect(parse(message)).toMatchObject(verdict);
  });

  test.each<[string, string, RegExp]>([
    ["another nonce", said({ nonce: "older1" }), /not have the nonce of this turn/],
    ["no nonce", JSON.stringify({ reason: "x", verdict: "PASS" }), /gave no verdict/],
    ["another word", said({ verdict: "pass" }), /gave no verdict/],
    ["a key more", said({ also: 1 }), /gave no verdict/],
    ["words before it", `Here it is: ${said()}`, /gave no verdict/],
    ["words after it", `${said()} I think`, /gave no verdict/],
    ["a code block", `\`\`\`json\n${said()}\n\`\`\``, /gave no verdict/],
    ["a list", `[${said()}]`, /gave no verdict/],
    ["two verdicts", said().replace("{", '{"verdict":"REJECT",'), /two verdicts/],
    ["the schema", JSON.stringify(VERDICT_SCHEMA), /gave no verdict/],
    ["half of it", said().slice(0, -1), /gave no verdict/],
  ])("does not count: %s", (_name, message, reason) => {
    expect(parse(message)).toEqual({ kind: "none", reason: expect.stringMatching(reason) });
  });

  test("an empty nonce is nobody's", () => {
    expect(parse(said({ nonce: "" }), "").kind).toBe("none");
  });

  test("what is no such JSON is worth what the tag says, whatever it is", () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.json(), fc.constant(`<verdict nonce="${NONCE}">PASS</verdict>`)),
        (text) => {
          expect(parse(text)).toEqual(parseVerdict(text, { nonce: NONCE }));
        },
      ),
    );
  });
});
