/** Shows the limits that apply in addition to those that the reader can change. */
import { type Layered, otherWords } from './layers.ts';

export function OtherLimits({ layered }: { readonly layered: Layered }) {
  const words = otherWords(layered);
  if (words === null) return null;
  return (
    <p className="rounded-md border border-line bg-sunken px-3 py-2 text-sm text-ink-2">
      {words}. The lower limit applies.
      {layered.layer === 'account' && ' Only the gateway operator can change the operator’s limits.'}
    </p>
  );
}
