/**
 * Remembers the colours of an account's models, keys, members and so on, as this browser gave them at first sight: each keeps its
 * colour on every page, whatever is filtered out beside it.
 */
import { useEffect, useMemo } from 'react';
import { parseSlots, type Slots, slotsWith } from './series-color.ts';
import { useAccount } from './session.ts';

/** Beyond so many, new ones go by their letters alone. */
const KEPT_MAX = 256;
const NONE: Slots = new Map();

/** The places of the models that are shown, and of those before; none where no model is shown. For `seriesColors`. */
export function useModelSlots(models: readonly string[]): Slots {
  return useSlots('model', models);
}

/** The same for any kind of names, each kind apart: `model`, `key`, `model,key`. */
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
