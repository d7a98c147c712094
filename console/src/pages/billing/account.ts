/** Labels, amount parsing and id proposals for accounts and ledger entries on the billing page. */
import type { ConsoleRoute, Reply } from '../../../../gateway/src/console-api/contract/contract.ts';
import { withoutSeparators } from '../../lib/money.ts';

export type Account = Reply<'GET /accounts/{account}/billing'>['account'];
/** With the operator's costs. */
export type HouseAccount = Reply<'GET /accounts'>['accounts'][number];
export type Entry = Reply<'GET /accounts/{account}/billing'>['entries'][number];

/** Refetched after money moved or an account changed. */
export const MONEY_READS: readonly ConsoleRoute[] = [
  'GET /accounts/{account}/billing',
  'GET /accounts',
  'GET /accounts/{account}/home',
  'GET /accounts/{account}/settings',
];

const KINDS: Readonly<Record<Entry['kind'], string>> = {
  topup: 'Top-up',
  hold: 'Reserved',
  extend: 'Reservation extended',
  post: 'Charged',
  void: 'Reservation released',
  correct: 'Adjustment',
  absorb: 'Written off',
};

export function kindLabel(kind: Entry['kind']): string {
  return KINDS[kind];
}

/**
 * Parses `12.5` to 12500000000 nano-USD; null unless it is an amount with up to nine decimals. A dollar sign and
 * separators of thousands are ignored.
 */
export function readUsd(text: string): { usd: string; nanoUsd: bigint } | null {
  const usd = withoutSeparators(text);
  const parts = /^(\d{1,9})(?:\.(\d{1,9}))?$/.exec(usd);
  if (parts === null) return null;
  return { usd, nanoUsd: BigInt(`${parts[1]}${(parts[2] ?? '').padEnd(9, '0')}`) };
}

const ID_LENGTH_MAX = 64;

/** Derives an id from a name: `Café Müller & Co.` → `cafe-muller-co`; empty when no letter or digit is usable. */
export function proposeId(name: string): string {
  const words =
    name
      .normalize('NFKD')
      .replace(/\p{M}/gu, '')
      .toLowerCase()
      .match(/[a-z0-9]+/g) ?? [];
  return words.join('-').slice(0, ID_LENGTH_MAX).replace(/-$/, '');
}
