/** Reads the two layers of limits, the operator's and the account's own. The lower cap applies. */
import type { Reply } from '../../../gateway/src/console-api/contract/contract.ts';
import type { Caps } from './caps-draft.ts';
import { budgetWords, type Gauge, rateWords } from './caps-text.ts';

export type Layered = Pick<Reply<'GET /accounts/{account}/limits'>['nodes'][number], 'layer' | 'caps' | 'other_caps'>;

const NO_CAPS: Caps = { rpm: null, tpm: null, concurrency: null, budget_usd: null, budget_window: null };

/** The caps of each layer, regardless of which one the reader may change. */
export function capsByLayer({ layer, caps, other_caps }: Layered): { readonly operator: Caps; readonly account: Caps } {
  const other = other_caps ?? NO_CAPS;
  return layer === 'operator' ? { operator: caps, account: other } : { operator: other, account: caps };
}

/** `Set by the operator: $25.00 per month · 60 requests/min`; null when the layer that the reader cannot change has no cap. */
export function otherWords({ layer, other_caps }: Layered): string | null {
  const words = other_caps === null ? '' : capsWords(other_caps);
  if (words === '') return null;
  return `Set by the ${layer === 'operator' ? 'account' : 'operator'}: ${words}`;
}

/** Both layers in short form, with who set each when there are two; empty: no limit. */
export function layeredWords(layered: Layered): string {
  const own = capsWords(layered.caps);
  const other = otherWords(layered);
  return [own, other].filter((words) => words !== null && words !== '').join(' · ');
}

function capsWords(caps: Caps): string {
  return [budgetWords(caps), rateWords(caps)].filter((words) => words !== null).join(' · ');
}

/** The rates and concurrency that apply: the lower of both layers. */
export function lowerRates({ caps, other_caps }: Layered): Caps {
  const lower = (cap: 'rpm' | 'tpm' | 'concurrency') =>
    Math.min(caps[cap] ?? Number.POSITIVE_INFINITY, other_caps?.[cap] ?? Number.POSITIVE_INFINITY);
  const read = (cap: 'rpm' | 'tpm' | 'concurrency') => (Number.isFinite(lower(cap)) ? lower(cap) : null);
  return { ...NO_CAPS, rpm: read('rpm'), tpm: read('tpm'), concurrency: read('concurrency') };
}

/** The gauge of a sort with the least left; undefined when there is none. */
export function tightestGauge(gauges: readonly Gauge[], sort: Gauge['sort']): Gauge | undefined {
  const left = ({ limit, used, held }: Gauge) => BigInt(limit) - BigInt(used) - BigInt(held);
  return gauges
    .filter((gauge) => gauge.sort === sort)
    .reduce<Gauge | undefined>(
      (tightest, gauge) => (tightest === undefined || left(gauge) < left(tightest) ? gauge : tightest),
      undefined,
    );
}
