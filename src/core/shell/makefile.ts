/** Reads Makefiles as plain text: includes, and the commands of targets. */
const MAX_TARGETS = 500;

/** The included files. Variables of the Makefile are expanded. */
export function includesOf(text: string): string[] {
  const variables = variablesOf(text);
  return [...text.matchAll(/^[ ]*-?s?include[ \t]+(.+)$/gm)].flatMap(([, names = ""]) =>
    expand(names.replace(/\s#.*$/, ""), variables)
      .split(/\s+/)
      .filter((name) => name !== ""),
  );
}

/** The commands of the targets and their dependencies. If a target is unknown, of all targets. */
export function recipesOf(text: string, targets: readonly string[]): string[] {
  const variables = variablesOf(text);
  const rules = rulesOf(text.replaceAll("\\\n", " "), variables);
  const first = [...rules.keys()].find((name) => !name.startsWith("."));
  const open = targets.length > 0 ? [...targets] : first === undefined ? [] : [first];
  if (open.some((name) => !rules.has(name))) return [...rules.values()].flatMap((rule) => rule.recipe);
  const seen = new Set<string>();
  for (let name = open.pop(); name !== undefined && seen.size < MAX_TARGETS; name = open.pop()) {
    if (seen.has(name)) continue;
    seen.add(name);
    open.push(...(rules.get(name)?.needs ?? []));
  }
  return [...seen].flatMap((name) => rules.get(name)?.recipe ?? []);
}

interface Rule {
  readonly needs: string[];
  readonly recipe: string[];
}

function rulesOf(text: string, variables: ReadonlyMap<string, string>): Map<string, Rule> {
  const rules = new Map<string, Rule>();
  let current: Rule[] = [];
  for (const line of text.split("\n")) {
    if (line.startsWith("\t")) {
      const command = expand(line.slice(1).replace(/^[@+-]+/, ""), variables);
      for (const rule of current) rule.recipe.push(command);
      continue;
    }
    const [, names, needs = "", inline] = /^([^\s#:=][^:=#]*)::?(?!=)([^;#]*)(?:;(.*))?/.exec(line) ?? [];
    if (names === undefined) continue;
    current = expand(names, variables)
      .trim()
      .split(/\s+/)
      .map((name) => {
        const rule = rules.get(name) ?? { needs: [], recipe: [] };
        rules.set(name, rule);
        rule.needs.push(...expand(needs, variables).split(/\s+/).filter(Boolean));
        if (inline !== undefined) rule.recipe.push(expand(inline, variables));
        return rule;
      });
  }
  return rules;
}

function variablesOf(text: string): Map<string, string> {
  const found = text
    .replaceAll("\\\n", " ")
    .matchAll(/^[ ]*(?:export[ ]+)?([\w.-]+)[ \t]*(?:\?|:{1,3}|\+)?=[ \t]*(.*)$/gm);
  return new Map([...found].map(([, name = "", value = ""]) => [name, value]));
}

const MAX_EXPANDED = 100_000;

/** Expands variables of this file. Others become variables of the shell. */
function expand(
  text: string,
  variables: ReadonlyMap<string, string>,
  depth = 0,
  // Variables that contain each other could fill the memory.
  budget = { left: MAX_EXPANDED },
): string {
  if (depth > 5) return text;
  return text
    .replaceAll(/\$[({]([\w.-]+)[)}]/g, (whole, name: string) => {
      if (name === "MAKE") return "make";
      const value = variables.get(name);
      budget.left -= value?.length ?? 0;
      return value === undefined || budget.left < 0
        ? whole.replace(/[({].*/, name)
        : expand(value, variables, depth + 1, budget);
    })
    .replaceAll("$$", "$");
}
