/** A project in a real temp folder for the commands of a backlog, a person who answers, and nothing of the real HOME. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished, vi } from "vitest";
import type { Questions } from "../../../src/cli/confirm.ts";
import type { Io } from "../../../src/cli/io.ts";
import { loadPrd } from "../../../src/store/files/prd-file.ts";

export interface Person extends Questions {
  readonly asked: string[];
}

/** Answers in their order; a question too many is a fault of the test. */
export function aPerson(...answers: (string | boolean | null)[]): Person {
  const asked: string[] = [];
  const next = <T>(message: string): Promise<T> => {
    asked.push(message);
    if (answers.length === 0) throw new Error(`nobody expected the question: ${message}`);
    return Promise.resolve(answers.shift() as T);
  };
  return { asked, confirm: next, choose: next, text: next };
}

export function setUp(files: Readonly<Record<string, string | object>> = {}) {
  const base = mkdtempSync(join(tmpdir(), 'loop it\'s a "backlog" '));
  onTestFinished(() => {
    vi.unstubAllEnvs();
    rmSync(base, { recursive: true, force: true });
  });
  const root = join(base, "my project");
  mkdirSync(root);
  mkdirSync(join(base, "home"));
  vi.stubEnv("HOME", join(base, "home"));
  for (const name of ["XDG_CONFIG_HOME", "LOOP_AGENT_CMD", "LOOP_FIRE_ID"]) vi.stubEnv(name, undefined);
  const write = (path: string, content: string | object) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), typeof content === "string" ? content : JSON.stringify(content));
  };
  for (const [path, content] of Object.entries(files)) write(path, content);
  const stdout: string[] = [];
  const stderr: string[] = [];
  const io = (interactive = false): Io => ({
    out: (text) => void stdout.push(text),
    say: (text) => void stderr.push(text),
    json: (value) => void stdout.push(JSON.stringify(value)),
    divert: () => () => {},
    interactive,
    colour: false,
  });
  return {
    base,
    root,
    io,
    flags: { project: root },
    json: { project: root, json: true },
    stdout,
    stderr,
    write,
    read: (path: string) => readFileSync(join(root, path), "utf8"),
    has: (path: string) => existsSync(join(root, path)),
    names: (path: string) => (existsSync(join(root, path)) ? readdirSync(join(root, path)).sort() : []),
    stories: () => loadPrd(root)?.prd.stories ?? [],
    /** The last thing that was printed, as JSON. */
    answer: <T>(): T => JSON.parse(stdout.splice(0).at(-1) ?? "") as T,
  };
}
