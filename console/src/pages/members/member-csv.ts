/** Columns of the members CSV. */
import { type CsvColumns, listText } from '../../csv/csv-table.ts';
import type { Member } from './roles.ts';

const COLUMNS: CsvColumns<Member> = [
  ['person', ({ person }) => person],
  ['name', ({ name }) => name],
  ['email', ({ email }) => email],
  ['email_verified', ({ email_verified }) => email_verified],
  ['role', ({ role }) => role],
  ['workspaces', ({ workspaces }) => listText(workspaces)],
  ['second_factor', ({ second_factor }) => second_factor],
  ['joined_at', ({ joined_at }) => joined_at],
  ['seen_at', ({ seen_at }) => seen_at],
];

export default COLUMNS;
