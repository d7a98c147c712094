/** Columns of the accounts CSV. */
import { type CsvColumns, usdText } from '../../csv/csv-table.ts';
import type { Account } from './account.ts';

const COLUMNS: CsvColumns<Account> = [
  ['id', ({ id }) => id],
  ['name', ({ name }) => name],
  ['mode', ({ mode }) => mode],
  ...(['balance', 'held', 'charged', 'written_off', 'topped_up'] as const).map((sum): CsvColumns<Account>[number] => [
    `${sum}_usd`,
    (account) => usdText(account[`${sum}_nano_usd`]),
  ]),
  ['mark_up_percent', ({ mark_up_percent }) => mark_up_percent],
  ['time_zone', ({ time_zone }) => time_zone],
  ['created_at', ({ created_at }) => created_at],
];

export default COLUMNS;
