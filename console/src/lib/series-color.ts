/** Owns that a name has the same colour on every page: by its own letters, not by its place in a list. */

const COLORS = 8;

/** Colours for names shown together: each its own as long as there are enough, the first name first. */
export function seriesColors(names: readonly string[]): ReadonlyMap<string, string> {
  const taken = new Set<number>();
  const colors = new Map<string, string>();
  for (const name of names) {
    if (taken.size === COLORS) {
      colors.set(name, 'var(--chart-rest)');
      continue;
    }
    let color = preferred(name);
    while (taken.has(color)) color = (color + 1) % COLORS;
    taken.add(color);
    colors.set(name, `var(--chart-${color + 1})`);
  }
  return colors;
}

/** FNV-1a over the letters. */
function preferred(name: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < name.length; at++) hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193);
  return (hash >>> 0) % COLORS;
}
