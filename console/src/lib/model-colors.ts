/** Owns the colours of an account's models, as this browser gave them at first sight: a model has the same one on every page. */
import { useEffect, useMemo } from 'react';
import { parseSlots, type Slots, slotsWith } from './series-color.ts';
import { useAccount } from './session.ts';

/** Beyond so many, new ones go by their letters alone. */
const KEPT_MAX = 64;
const NONE: Slots = new Map();

/** The places of the models that are shown, and of those before; none where no model is shown. For `seriesColors`. */
export function useModelSlots(models: readonly string[]): Slots {
  const { account } = useAccount();
  const place = `tollgate.model-colors.${account}`;
  const names = models.join('\n');
  const slots = useMemo(
    () => (names === '' ? NONE : slotsWith(parseSlots(localStorage.getItem(place)), names.split('\n'))),
    [place, names],
  );
  useEffect(() => {
    if (slots.size > 0 && slots.size <= KEPT_MAX) localStorage.setItem(place, JSON.stringify([...slots]));
  }, [place, slots]);
  return slots;
}
