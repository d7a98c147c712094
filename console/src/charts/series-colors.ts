/**
 * Assigns colors to names and stores them per account in this browser: derived from the letters, adjusted on
 * collision, and then kept. Never depends on the position in a list.
 */
import { useEffect, useMemo } from 'react';
import { useAccount } from '../lib/session.ts';

const COLORS = 8;

/** Color slot of each known name, in the order first seen. */
export type Slots = ReadonlyMap<string, number>;

const NONE: Slots = new Map();

/**
 * Adds a slot for each unknown name: the one derived from its letters, or, if taken, a slot that none of `names` has
 * and that is least used overall. Does not depend on the order of `names`.
 */
export function slotsWith(known: Slots, names: readonly string[]): Slots {
  const unknown = names.filter((name) => !known.has(name)).sort();
  if (unknown.length === 0) return known;
  const slots = new Map(known);
  const load = new Array<number>(COLORS).fill(0);
  const take = (name: string, slot: number, weight: number) => {
    slots.set(name, slot);
    load[slot] = (load[slot] ?? 0) + weight;
  };
  const beside = known.size + names.length;
  for (const [name, slot] of known) take(name, slot, names.includes(name) ? beside : 1);
  const late = unknown.filter((name) => {
    const slot = preferred(name);
    if (load[slot] !== 0) return true;
    take(name, slot, beside);
    return false;
  });
  for (const name of late) take(name, load.indexOf(Math.min(...load)), beside);
  return slots;
}

/** Colors of names that are shown together: if two share a slot, the first seen keeps it. */
export function seriesColors(names: readonly string[], known: Slots = NONE): ReadonlyMap<string, string> {
  const shown = [...slotsWith(known, names)].filter(([name]) => names.includes(name));
  const owners = new Map<number, string>();
  for (const [name, slot] of shown) if (!owners.has(slot)) owners.set(slot, name);
  for (const [name, slot] of shown) {
    if (owners.get(slot) === name) continue;
    const free = freeFrom(owners, slot);
    if (free !== null) owners.set(free, name);
  }
  const colors = new Map(names.map((name) => [name, 'var(--chart-rest)']));
  for (const [slot, name] of owners) colors.set(name, `var(--chart-${slot + 1})`);
  return colors;
}

function freeFrom(owners: ReadonlyMap<number, string>, slot: number): number | null {
  for (let step = 1; step < COLORS; step++) {
    const next = (slot + step) % COLORS;
    if (!owners.has(next)) return next;
  }
  return null;
}

/** Parses stored JSON; invalid text yields no slots. */
export function parseSlots(text: string | null): Slots {
  try {
    const pairs: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(pairs) && pairs.every(isSlot) ? new Map(pairs) : NONE;
  } catch {
    return NONE;
  }
}

function isSlot(pair: unknown): pair is [string, number] {
  if (!Array.isArray(pair)) return false;
  const [name, slot] = pair as unknown[];
  return typeof name === 'string' && Number.isInteger(slot) && Number(slot) >= 0 && Number(slot) < COLORS;
}

/** FNV-1a over the characters. */
function preferred(name: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < name.length; at++) hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193);
  return (hash >>> 0) % COLORS;
}

/** Beyond this number, slots are no longer stored: new names get a color from their letters alone. */
const KEPT_MAX = 256;

/** Color slots of the shown models and of earlier ones; empty when no model is shown. For `seriesColors`. */
export function useModelSlots(models: readonly string[]): Slots {
  return useSlots('model', models);
}

/** The same for any kind of names, each kind separately: `model`, `key`, `model,key`. */
export function useSlots(kind: string, shown: readonly string[]): Slots {
  const { account } = useAccount();
  const place = `tollgate.${kind}-colors.${account}`;
  const names = shown.join('\n');
  const slots = useMemo(
    () => (names === '' ? NONE : slotsWith(parseSlots(localStorage.getItem(place)), names.split('\n'))),
    [place, names],
  );
  useEffect(() => {
    if (slots.size > 0 && slots.size <= KEPT_MAX) localStorage.setItem(place, JSON.stringify([...slots]));
  }, [place, slots]);
  return slots;
}
