/** Computes what the page of a model shows: its figures over a range, and its prices and facts, each as text. */
import type { Reply } from '../../../../../gateway/src/console-api/contract/contract.ts';
import { duration, retirementText, sentenceCase, share, shortNumber, wholeNumber } from '../../../lib/format.ts';
import { shortUsd } from '../../../lib/money.ts';
import { PROTOCOL_TITLES } from '../../../lib/protocols.ts';
import { ALL_RATES, type ModelView, rateText } from '../model-facts.ts';

type Sums = Reply<'GET /accounts/{account}/usage'>['total'];
type Call = Pick<
  Reply<'GET /accounts/{account}/logs'>['calls'][number],
  'stream' | 'status' | 'error' | 'usage' | 'ttfb_ms' | 'duration_ms'
>;

export interface Figures {
  readonly model: ModelView;
  /** Undefined: loading. */
  readonly sums: Sums | undefined;
  /** The latest streams; null: the user may not read logs. Undefined: loading. */
  readonly calls: readonly Call[] | null | undefined;
}

/** Fewer output tokens say nothing about speed. */
const TOKENS_MIN = 16;

/** The median of output tokens per second after the first token, over complete streams; null: no such stream. */
export function tokensPerSecond(calls: readonly Call[]): number | null {
  const speeds = calls
    .filter(({ stream, status, error, usage }) => stream && status === 200 && !error && usage.output >= TOKENS_MIN)
    .map(({ usage, ttfb_ms, duration_ms }) => (usage.output * 1_000) / (duration_ms - (ttfb_ms ?? 0)))
    .filter((speed) => Number.isFinite(speed) && speed > 0)
    .sort((one, other) => one - other);
  return speeds[Math.floor((speeds.length - 1) / 2)] ?? null;
}

/** Text of a cell; null: a placeholder while it loads. */
type CellText = (figures: Figures) => string | null;

export interface Row {
  readonly label: string;
  readonly hint?: string;
  readonly text: CellText;
}

const NONE = '–';
const ofSums =
  (text: (sums: Sums) => string): CellText =>
  ({ sums }) =>
    sums === undefined ? null : text(sums);
const ms = (value: number | null) => (value === null ? NONE : duration(value));
const pair = (p50: number | null, p95: number | null) => (p50 === null ? NONE : `${ms(p50)} / ${ms(p95)}`);

export const USE_ROWS: readonly Row[] = [
  { label: 'Requests', text: ofSums(({ requests }) => wholeNumber(requests)) },
  { label: 'Spend', text: ofSums(({ cost_nano_usd }) => shortUsd(cost_nano_usd)) },
  {
    label: 'Spend per 1,000 requests',
    text: ofSums(({ requests, cost_nano_usd }) =>
      requests === 0 ? NONE : shortUsd(((BigInt(cost_nano_usd) * 1_000n) / BigInt(requests)).toString()),
    ),
  },
  {
    label: 'Errors',
    text: ofSums(({ errors, requests }) =>
      requests === 0 ? NONE : `${wholeNumber(errors)} (${share(errors, requests)})`,
    ),
  },
  {
    label: 'Duration, p50 / p95',
    hint: 'Of successful requests',
    text: ofSums(({ latency_p50_ms, latency_p95_ms }) => pair(latency_p50_ms, latency_p95_ms)),
  },
  {
    label: 'First token, p50 / p95',
    hint: 'Of successful requests',
    text: ofSums(({ ttfb_p50_ms, ttfb_p95_ms }) => pair(ttfb_p50_ms, ttfb_p95_ms)),
  },
  {
    label: 'Output tokens/s',
    hint: 'Median of the latest 50 streams',
    text({ calls }) {
      if (calls === undefined) return null;
      const speed = calls === null ? null : tokensPerSecond(calls);
      return speed === null ? NONE : speed.toFixed(speed < 10 ? 1 : 0);
    },
  },
  {
    label: 'Input tokens',
    hint: 'Without cache reads and writes',
    text: ofSums(({ input }) => shortNumber(input)),
  },
  { label: 'Output tokens', text: ofSums(({ output }) => shortNumber(output)) },
  {
    label: 'Read from cache',
    hint: 'Share of all input tokens',
    text: ofSums(({ input, cache_read, cache_write_5m, cache_write_1h }) => {
      const all = input + cache_read + cache_write_5m + cache_write_1h;
      return all === 0 ? NONE : share(cache_read, all);
    }),
  },
];

/** The rates that one of the models has. */
export function priceRows(models: readonly ModelView[]): readonly Row[] {
  return ALL_RATES.filter(
    ([rate], at) => at < 2 || models.some(({ price }) => price?.[rate] !== null && price?.[rate] !== undefined),
  ).map(([rate, label]) => ({ label, text: ({ model }) => rateText(model.price, rate) }));
}

const tokens = (count: number | null) => (count === null ? 'Unknown' : wholeNumber(count));

export const FACT_ROWS: readonly Row[] = [
  { label: 'Context (tokens)', text: ({ model }) => tokens(model.context_tokens) },
  { label: 'Max output (tokens)', text: ({ model }) => tokens(model.output_tokens_max) },
  {
    label: 'Retirement',
    text: ({ model }) => (model.retires === null ? 'No date known' : retirementText(model.retires)),
  },
  {
    label: 'Capabilities',
    text: ({ model }) => model.capabilities.map(sentenceCase).join(', ') || 'Unknown',
  },
  { label: 'Protocols', text: ({ model }) => model.protocols.map((one) => PROTOCOL_TITLES[one]).join(', ') },
  {
    label: 'Providers',
    text: ({ model }) => model.targets.map(({ provider }) => provider).join(', then '),
  },
  { label: 'API keys that may use it', text: ({ model }) => wholeNumber(model.keys) },
];
