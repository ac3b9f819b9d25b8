/** A diff of two texts that differ in one place: `-` and `+` lines, with one line of context on either side. */
export function renderTextDiff(before: string, after: string): readonly string[] {
  const [old, fresh] = [linesOf(before), linesOf(after)];
  let from = 0;
  while (from < old.length && from < fresh.length && old[from] === fresh[from]) from++;
  let tail = 0;
  while (tail < old.length - from && tail < fresh.length - from && old.at(-1 - tail) === fresh.at(-1 - tail))
    tail++;
  const same = (line: string | undefined) => (line === undefined ? [] : [`  ${line}`]);
  return [
    ...same(from === 0 ? undefined : old[from - 1]),
    ...old.slice(from, old.length - tail).map((line) => `- ${line}`),
    ...fresh.slice(from, fresh.length - tail).map((line) => `+ ${line}`),
    ...same(tail === 0 ? undefined : old[old.length - tail]),
  ];
}

function linesOf(text: string): readonly string[] {
  return text === "" ? [] : text.replace(/\r?\n$/, "").split(/\r?\n/);
}
