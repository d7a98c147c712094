/** Columns of the models CSV. Prices are the current ones, in US dollars per million tokens as they were set. */
import { type CsvColumns, listText } from '../../csv/csv-table.ts';
import { ALL_RATES, type ModelView } from './model-facts.ts';

const COLUMNS: CsvColumns<ModelView> = [
  ['name', ({ name }) => name],
  ['aliases', ({ aliases }) => listText(aliases)],
  ['targets', ({ targets }) => listText(targets.map(({ provider, model }) => `${provider}/${model}`))],
  ['protocols', ({ protocols }) => listText(protocols)],
  ['capabilities', ({ capabilities }) => listText(capabilities)],
  ['context_tokens', ({ context_tokens }) => context_tokens],
  ['output_tokens_max', ({ output_tokens_max }) => output_tokens_max],
  ['keys', ({ keys }) => keys],
  ['source', ({ source }) => source],
  ['price_version', ({ price }) => price?.version ?? null],
  ['price_from', ({ price }) => price?.from ?? null],
  ['free', ({ price }) => price?.free ?? null],
  ...ALL_RATES.map(([rate]): CsvColumns<ModelView>[number] => [
    `${rate}_usd_per_million`,
    ({ price }) => price?.[rate] ?? null,
  ]),
  ['per_1000_requests_usd', ({ price }) => jsonText(price?.per_1000_requests)],
  ['per_unit_usd', ({ price }) => jsonText(price?.per_unit)],
  ['tiers', ({ price }) => jsonText(price?.tiers)],
];

const jsonText = (member: object | undefined) => (member === undefined ? null : JSON.stringify(member));

export default COLUMNS;
