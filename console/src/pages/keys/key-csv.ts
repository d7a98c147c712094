/** Columns of the keys CSV. */
import { type CsvColumns, listText, usdText } from '../../csv/csv-table.ts';
import { sumNano } from '../../lib/money.ts';
import { capsColumns } from '../../policy/caps-text.ts';
import type { Key } from './key.ts';
import { tagLines } from './tags/key-tags.ts';

const COLUMNS: CsvColumns<Key> = [
  ['id', ({ id }) => id],
  ['name', ({ name }) => name],
  ['last4', ({ last4 }) => last4],
  ['status', ({ status }) => status],
  ['workspace', ({ workspace }) => workspace],
  ['owner', ({ owner }) => owner?.name ?? null],
  ['models', ({ models }) => listText(models)],
  ['ips', ({ ips }) => listText(ips)],
  ['scopes', ({ scopes }) => listText(scopes)],
  ['strict', ({ strict }) => strict],
  ['tags', ({ tags }) => listText(tagLines(tags))],
  ...capsColumns<Key>(),
  ['budget_used_usd', ({ budget }) => usdText(budget?.used_nano_usd ?? null)],
  ['budget_held_usd', ({ budget }) => usdText(budget?.held_nano_usd ?? null)],
  ['created_at', ({ created_at }) => created_at],
  ['expires_at', ({ expires_at }) => expires_at],
  ['last_used_at', ({ last_used }) => last_used?.at ?? null],
  ['last_used_client', ({ last_used }) => last_used?.client ?? null],
  ['week_requests', ({ week_requests }) => week_requests.reduce((sum, requests) => sum + requests, 0)],
  ['week_usd', ({ week_nano_usd }) => usdText(sumNano(week_nano_usd))],
];

export default COLUMNS;
