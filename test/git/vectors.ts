/** Every way in which files of a repository make git start a program. */
import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { commit, git, write } from "./fixtures.ts";

/** A program in the repository that notes its name; as a filter it passes its input on. */
export function evil(cwd: string, name: string, rest = "cat"): string {
  const path = join(cwd, ".evil", name);
  mkdirSync(dirname(path), { recursive: true });
  const log = join(dirname(cwd), "ran").replaceAll("'", "'\\''");
  writeFileSync(path, `#!/bin/sh\necho '${name}' >>'${log}'\n${rest}\n`, { mode: 0o755 });
  return path;
}

export function ran(cwd: string): string[] {
  const log = join(dirname(cwd), "ran");
  return existsSync(log) ? [...new Set(readFileSync(log, "utf8").split("\n"))].filter(Boolean).sort() : [];
}

export const quoted = (path: string) => `'${path.replaceAll("'", "'\\''")}'`;
const set = (cwd: string, key: string, value: string) => git(cwd, "config", key, value);
const attribute = (cwd: string, line: string) =>
  writeFileSync(join(cwd, ".gitattributes"), `${line}\n`, { flag: "a" });

/** A file with a filter, whose program is in this configuration file. */
function includedFilter(cwd: string, name: string, key: string): void {
  const program = quoted(evil(cwd, name));
  write(cwd, { [`${name}.txt`]: "one\n", [`.evil/${name}.config`]: "" });
  git(cwd, "config", "--file", join(cwd, ".evil", `${name}.config`), `filter.${name}.clean`, program);
  set(cwd, key, `../.evil/${name}.config`);
  attribute(cwd, `${name}.txt filter=${name}`);
}

function nested(cwd: string, name: string): string {
  const inner = join(cwd, name);
  write(cwd, { [`${name}/file`]: "one\n" });
  git(inner, "init", "-q");
  commit(inner, "inner");
  return inner;
}

interface Vector {
  readonly plant: (cwd: string) => void;
  /** What the person types, or does in between; the planted program starts. */
  readonly typed: readonly (readonly string[] | ((cwd: string) => void))[];
}

const ADD = ["add", "-A"];
const STORY = [ADD, ["commit", "-q", "-m", "x"]];

export const VECTORS: Readonly<Record<string, Vector>> = {
  hooks: {
    plant(cwd) {
      const names =
        "pre-commit post-commit post-index-change reference-transaction post-checkout pre-merge-commit post-merge";
      for (const name of names.split(" ")) {
        mkdirSync(join(cwd, ".git/hooks"), { recursive: true });
        writeFileSync(join(cwd, ".git/hooks", name), `#!/bin/sh\nexec ${quoted(evil(cwd, "hooks"))}\n`, {
          mode: 0o755,
        });
      }
    },
    typed: STORY,
  },
  "core.hooksPath": {
    plant(cwd) {
      const hooks = dirname(evil(cwd, "reference-transaction"));
      writeFileSync(
        join(hooks, "reference-transaction"),
        `#!/bin/sh\nexec ${quoted(evil(cwd, "core.hooksPath"))}\n`,
      );
      set(cwd, "core.hooksPath", ".evil");
    },
    typed: STORY,
  },
  "core.fsmonitor": {
    plant: (cwd) => set(cwd, "core.fsmonitor", quoted(evil(cwd, "core.fsmonitor"))),
    typed: [["status"]],
  },
  "filter.clean": {
    plant(cwd) {
      set(cwd, "filter.one.clean", quoted(evil(cwd, "filter.clean")));
      set(cwd, "filter.one.required", "true");
      attribute(cwd, "one.txt filter=one");
      write(cwd, { "one.txt": "1\n" });
    },
    typed: [ADD],
  },
  "filter.smudge": {
    plant(cwd) {
      set(cwd, "filter.two.smudge", quoted(evil(cwd, "filter.smudge")));
      attribute(cwd, "a filter=two");
    },
    typed: [
      ["rm", "-q", "-f", "a"],
      ["checkout", "-q", "HEAD", "--", "a"],
    ],
  },
  "filter.process": {
    plant(cwd) {
      set(cwd, "filter.three.process", quoted(evil(cwd, "filter.process")));
      attribute(cwd, "three.txt filter=three");
      write(cwd, { "three.txt": "3\n" });
    },
    typed: [ADD],
  },
  "include.path": { plant: (cwd) => includedFilter(cwd, "include.path", "include.path"), typed: [ADD] },
  "includeIf-gitdir": {
    plant: (cwd) =>
      includedFilter(cwd, "includeIf-gitdir", `includeIf.gitdir:${realpathSync(dirname(cwd))}/.path`),
    typed: [ADD],
  },
  "includeIf-onbranch": {
    plant: (cwd) => includedFilter(cwd, "includeIf-onbranch", "includeIf.onbranch:**.path"),
    typed: [ADD],
  },
  "config.worktree": {
    plant(cwd) {
      set(cwd, "extensions.worktreeConfig", "true");
      git(cwd, "config", "--worktree", "filter.wt.clean", quoted(evil(cwd, "config.worktree")));
      attribute(cwd, "wt.txt filter=wt");
      write(cwd, { "wt.txt": "w\n" });
    },
    typed: [ADD],
  },
  "info-attributes": {
    plant(cwd) {
      set(cwd, "filter.info.clean", quoted(evil(cwd, "info-attributes")));
      write(cwd, { ".git/info/attributes": "info.txt filter=info\n", "info.txt": "i\n" });
    },
    typed: [ADD],
  },
  "core.attributesFile": {
    plant(cwd) {
      set(cwd, "filter.af.clean", quoted(evil(cwd, "core.attributesFile")));
      set(cwd, "core.attributesFile", join(cwd, ".evil/attributes"));
      write(cwd, { ".evil/attributes": "af.txt filter=af\n", "af.txt": "f\n" });
    },
    typed: [ADD],
  },
  "nested-filter": {
    plant(cwd) {
      const inner = nested(cwd, "nested-filter");
      set(inner, "filter.in.clean", quoted(evil(cwd, "nested-filter")));
      write(inner, { ".gitattributes": "file filter=in\n", file: "two\n" });
    },
    typed: [ADD, ADD],
  },
  "nested-monitor": {
    plant: (cwd) => set(nested(cwd, "nested-monitor"), "core.fsmonitor", quoted(evil(cwd, "nested-monitor"))),
    typed: [ADD, ADD],
  },
  "merge-driver": {
    plant(cwd) {
      set(cwd, "merge.mine.driver", `${quoted(evil(cwd, "merge-driver"))} %A`);
      attribute(cwd, "b merge=mine");
    },
    typed: [
      ...STORY,
      ["checkout", "-q", "-b", "other"],
      (cwd) => write(cwd, { b: "other\n" }),
      ...STORY,
      ["checkout", "-q", "main"],
      (cwd) => write(cwd, { b: "main\n" }),
      ...STORY,
      ["merge", "-q", "other"],
    ],
  },
  "diff.external": {
    plant: (cwd) => set(cwd, "diff.external", quoted(evil(cwd, "diff.external"))),
    typed: [["diff"]],
  },
  textconv: {
    plant(cwd) {
      set(cwd, "diff.conv.textconv", quoted(evil(cwd, "textconv")));
      attribute(cwd, "a diff=conv");
    },
    typed: [["diff"]],
  },
  "diff.command": {
    plant(cwd) {
      set(cwd, "diff.cmd.command", quoted(evil(cwd, "diff.command")));
      attribute(cwd, "b diff=cmd");
      write(cwd, { b: "b 9\n" });
    },
    typed: [["diff"]],
  },
  "gpg.program": {
    plant(cwd) {
      set(cwd, "gpg.program", evil(cwd, "gpg.program"));
      set(cwd, "commit.gpgSign", "true");
      set(cwd, "user.signingKey", "x");
    },
    typed: [ADD, ["commit", "-q", "-m", "x"]],
  },
  "core.editor": {
    plant: (cwd) => set(cwd, "core.editor", quoted(evil(cwd, "core.editor"))),
    typed: [["commit", "--amend"]],
  },
  "core.sshCommand": {
    plant(cwd) {
      set(cwd, "core.sshCommand", quoted(evil(cwd, "core.sshCommand", "exit 1")));
      set(cwd, "remote.ssh.url", "ssh://nobody@localhost/x");
    },
    typed: [["fetch", "-q", "ssh"]],
  },
  "remote-ext": {
    plant(cwd) {
      set(cwd, "protocol.ext.allow", "always");
      set(cwd, "remote.ext.url", `ext::${join(cwd, ".evil", "remote-ext").replaceAll(" ", "% ")}`);
      evil(cwd, "remote-ext", "exit 1");
    },
    typed: [["fetch", "-q", "ext"]],
  },
  uploadpack: {
    plant(cwd) {
      set(cwd, "remote.up.url", cwd);
      set(cwd, "remote.up.uploadpack", quoted(evil(cwd, "uploadpack", "exit 1")));
    },
    typed: [["fetch", "-q", "up"]],
  },
  "credential.helper": {
    plant: (cwd) => set(cwd, "credential.helper", `!${quoted(evil(cwd, "credential.helper"))}`),
    typed: [["credential", "fill"]],
  },
  alias: { plant: (cwd) => set(cwd, "alias.snap", `!${quoted(evil(cwd, "alias"))}`), typed: [["snap"]] },
};
