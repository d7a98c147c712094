/** Columns of the accounts CSV. */
import { type CsvColumns, usdText } from '../../csv/csv-table.ts';
import type { HouseAccount } from './account.ts';

const COLUMNS: CsvColumns<HouseAccount> = [
  ['id', ({ id }) => id],
  ['name', ({ name }) => name],
  ['mode', ({ mode }) => mode],
  ...(['balance', 'held', 'charged', 'written_off', 'topped_up', 'absorbed_attempts'] as const).map(
    (sum): CsvColumns<HouseAccount>[number] => [`${sum}_usd`, (account) => usdText(account[`${sum}_nano_usd`])],
  ),
  ['mark_up_percent', ({ mark_up_percent }) => mark_up_percent],
  ['time_zone', ({ time_zone }) => time_zone],
  ['created_at', ({ created_at }) => created_at],
];

export default COLUMNS;
