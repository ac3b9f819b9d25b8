/** Everything that a loop makes run, for a person who decides whether to trust it. */
import { renderAgentSpec } from "../agents.ts";
import type { Story } from "../backlog/stories.ts";
import type { Criterion, MustNot } from "../checks/check.ts";
import { renderTrusted } from "../checks/kinds.ts";
import type { Loop } from "../loop.ts";
import { renderCadence } from "../text/human.ts";

/** `command` is for a shell, or a text that an agent gets. */
export interface NamedCommand {
  readonly name: string;
  readonly command: string;
}

export interface RunningLoop {
  readonly id: string;
  readonly kind: Loop["kind"];
  readonly when: string;
  readonly runs: readonly NamedCommand[];
}

export function whatRuns(loop: Loop): RunningLoop {
  const { id, kind } = loop;
  switch (loop.kind) {
    case "task": {
      const expectation = loop.expect === null ? [] : [{ name: "expects", command: loop.expect }];
      const runs = [{ name: "prompt", command: loop.prompt }, ...expectation];
      return { id, kind, when: renderCadence(loop.cadence), runs };
    }
    case "goal": {
      const { spec, agent, criteria, proposed, mustNot, gate, status } = loop;
      const agents = [
        { name: "agent", command: renderAgentSpec(agent) },
        { name: "goal", command: spec },
      ];
      const checks = [...commandsOfCriteria([...criteria, ...proposed]), ...commandsOfBans(mustNot)];
      const { allowChanges, yes } = loop.policy;
      const permissions = [
        ...allowChanges.map((pattern) => ({ name: "may change", command: pattern })),
        ...(yes ? [{ name: "asks", command: "nothing (--yes)" }] : []),
      ];
      return {
        id,
        kind,
        when: gate === null ? status : `${status}, asks`,
        runs: [...agents, ...checks, ...permissions],
      };
    }
    case "backlog": {
      const { generator, evaluator, checks } = loop.terms;
      const agents = [
        { name: "generator", command: renderAgentSpec(generator) },
        { name: "evaluator", command: renderAgentSpec(evaluator) },
      ];
      const stories = loop.stories.flatMap(textsOfStory);
      return { id, kind, when: loop.status, runs: [...agents, ...commandsOfCriteria(checks), ...stories] };
    }
  }
}

/** What the agents read, and the checks of the story as a person wrote them. */
function textsOfStory(story: Story): readonly NamedCommand[] {
  const name = `story ${story.id}`;
  return [
    { name, command: story.title },
    ...(story.description === "" ? [] : [{ name: `${name} text`, command: story.description }]),
    ...story.acceptanceCriteria.map((command) => ({ name: `${name} criterion`, command })),
    ...story.holdouts.map((command) => ({ name: `${name} holdout`, command })),
    ...story.checks.map((command) => ({ name: `${name} check`, command })),
  ];
}

export function commandsOfCriteria(criteria: readonly Criterion[]): readonly NamedCommand[] {
  return criteria.flatMap((criterion) => renderTrusted(criterion) ?? []);
}

export function commandsOfBans(mustNot: readonly MustNot[]): readonly NamedCommand[] {
  return mustNot.flatMap(({ name, command }) =>
    command === null ? [] : { name: `must not: ${name}`, command },
  );
}
