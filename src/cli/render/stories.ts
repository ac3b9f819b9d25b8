/** Renders stories for people, without holdouts, which only the evaluator may see (C15). */
import { type Story, statusOf } from "../../core/backlog/stories.ts";
import { cleanLine, cleanText } from "../../core/text/clean.ts";

export function renderStory(story: Story, more: readonly string[] = []): string {
  const { id, title, description, acceptanceCriteria, checks, dependsOn, notes, priority, depth } = story;
  const facts = [
    `Status: ${statusOf(story)}${story.rejections > 0 ? `, rejected ${times(story.rejections)}` : ""}`,
    ...(priority === null ? [] : [`Priority: ${priority}`]),
    ...(depth === null ? [] : [`Depth: ${depth}`]),
    ...(dependsOn.length === 0 ? [] : [`Depends on: ${dependsOn.map(cleanLine).join(", ")}`]),
    ...more,
    ...block("", description),
    ...acceptanceCriteria.map((one) => `- ${cleanLine(one)}`),
    ...checks.map((one) => `Check: ${cleanLine(one)}`),
    ...block("Notes:", notes),
  ];
  return [`${id}: ${cleanLine(title)}`, ...facts.map((fact) => `  ${fact}`)].join("\n");
}

function block(title: string, text: string): readonly string[] {
  const lines = cleanText(text)
    .split("\n")
    .filter((line) => line.trim() !== "");
  return lines.length === 0 || title === "" ? lines : [title, ...lines.map((line) => `  ${line}`)];
}

/** Shown before stories are written: title, dependencies, criteria and commands. */
export function renderPlanned(stories: readonly Story[]): string {
  return stories.flatMap(plannedLines).join("\n");
}

function plannedLines(story: Story): readonly string[] {
  const { id, title, dependsOn, acceptanceCriteria, checks, passes, depth } = story;
  const marks = [
    ...(passes ? ["passed"] : []),
    ...(depth === null ? [] : [depth]),
    ...(dependsOn.length === 0 ? [] : [`after ${dependsOn.map(cleanLine).join(", ")}`]),
  ];
  return [
    `${id}: ${cleanLine(title)}${marks.length === 0 ? "" : ` (${marks.join(", ")})`}`,
    ...acceptanceCriteria.map((one) => `  - ${cleanLine(one)}`),
    ...checks.map((one) => `  runs: ${cleanLine(one)}`),
  ];
}

export function countStories(count: number): string {
  return count === 1 ? "1 story" : `${count} stories`;
}

function times(count: number): string {
  return count === 1 ? "once" : `${count} times`;
}
