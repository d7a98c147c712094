/** Finds the known name that a mistyped one probably means. */

/**
 * The candidate that the fewest edits (a character added, removed, changed, or two swapped) turn into `name`; the first
 * on a tie. If none is within a third of its length: the only candidate that begins with `name`, else null.
 */
export function chooseNearName(name: string, candidates: readonly string[]): string | null {
  let nearest: string | null = null;
  let nearestSlips = Number.POSITIVE_INFINITY;
  const plain = normalize(name);
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - name.length) > 3) continue;
    const slips = countSlips(plain, normalize(candidate));
    if (slips < nearestSlips && slips <= Math.max(1, Math.floor(candidate.length / 3))) {
      nearest = candidate;
      nearestSlips = slips;
    }
  }
  if (nearest !== null) return nearest;
  const longer = [...candidates].filter((candidate) => plain.length >= 4 && normalize(candidate).startsWith(plain));
  return longer.length === 1 ? (longer[0] ?? null) : null;
}

function normalize(name: string): string {
  return name.toLowerCase().replaceAll('-', '_');
}

/** Optimal string alignment distance, three rows at a time. */
function countSlips(left: string, right: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    for (let column = 1; column <= right.length; column++) {
      const changed = left[row - 1] === right[column - 1] ? 0 : 1;
      let fewest = Math.min((last[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1, (last[column - 1] ?? 0) + changed);
      const swapped = left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      if (row > 1 && column > 1 && swapped) fewest = Math.min(fewest, (beforeLast[column - 2] ?? 0) + 1);
      current.push(fewest);
    }
    beforeLast = last;
    last = current;
  }
  return last[right.length] ?? 0;
}
