/**
 * Remembers the colors of an account's models, keys, members and other names in this browser: each name keeps its first
 * color on every page, whatever else is filtered out.
 */
import { useEffect, useMemo } from 'react';
import { parseSlots, type Slots, slotsWith } from './series-colors.ts';
import { useAccount } from '../lib/session.ts';

/** Beyond this number, slots are no longer stored: new names get a color from their letters alone. */
const KEPT_MAX = 256;
const NONE: Slots = new Map();

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
