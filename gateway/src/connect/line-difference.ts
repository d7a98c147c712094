/** Owns showing what changes between two texts, line by line. */

/** Lines that go begin with `-`, lines that come with `+`; of those that stay only the ones beside a change are shown. */
export function renderDifference(before: string, after: string): string {
  const [old, fresh] = [toLines(before), toLines(after)];
  const marked = mark(old, fresh);
  const isNear = (at: number) =>
    [at - 1, at, at + 1].some((each) => marked[each] !== undefined && marked[each][0] !== ' ');
  return marked
    .filter((_, at) => isNear(at))
    .map((line) => `${line}\n`)
    .join('');
}

function toLines(text: string): string[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

/** By the longest common subsequence; these files have lines by the hundred. */
function mark(old: readonly string[], fresh: readonly string[]): string[] {
  const common: number[][] = Array.from({ length: old.length + 1 }, () => new Array<number>(fresh.length + 1).fill(0));
  const at = (left: number, right: number) => common[left]?.[right] ?? 0;
  for (let left = old.length - 1; left >= 0; left--) {
    for (let right = fresh.length - 1; right >= 0; right--) {
      const longest =
        old[left] === fresh[right] ? at(left + 1, right + 1) + 1 : Math.max(at(left + 1, right), at(left, right + 1));
      (common[left] as number[])[right] = longest;
    }
  }
  const lines: string[] = [];
  let [left, right] = [0, 0];
  while (left < old.length || right < fresh.length) {
    if (left < old.length && right < fresh.length && old[left] === fresh[right]) {
      lines.push(`  ${old[left]}`);
      left += 1;
      right += 1;
    } else if (right >= fresh.length || (left < old.length && at(left + 1, right) >= at(left, right + 1))) {
      lines.push(`- ${old[left]}`);
      left += 1;
    } else {
      lines.push(`+ ${fresh[right]}`);
      right += 1;
    }
  }
  return lines;
}
