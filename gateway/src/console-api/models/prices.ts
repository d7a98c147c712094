/**
 * Sets the price of a model from a time on, and renders prices. Reports which rates the previous price had in addition.
 */

import type { z } from 'zod';
import { formatUsdPerMillion, formatUsdPerThousand, PriceError } from '../../billing/money.ts';
import { type Fees, PRICE_MEMBERS, type Price, type PriceTier, type Rates } from '../../billing/price.ts';
import { type PriceBook, type PricePeriod, parseSetPrice, priceAt } from '../../billing/price-book.ts';
import { NO_UNITS, writeUnitPrices } from '../../billing/unit-prices.ts';
import { sourceOfModel } from '../../config/console-entries.ts';
import { ConsoleFailure } from '../../errors/console-failure.ts';
import { EXTRA_COUNTERS, EXTRA_PARTS } from '../../generation/usage.ts';
import type { StoredRates } from '../../store/ports/providers.ts';
import type { ReadBody, Reply } from '../contract/contract.ts';
import type { priceView } from '../contract/models.ts';
import type { ConsoleCall } from '../kernel/handlers.ts';
import { type ModelDeps, nameActor } from './model-deps.ts';

type SetPriceRoute = 'PUT /accounts/{account}/models/{model}/price';
type PriceBody = ReadBody<SetPriceRoute>;
type TokenRates = Pick<PriceBody, 'input' | 'output' | (typeof OPTIONAL_RATES)[number]>;

/** Stores the price and applies it from the next call. */
export async function setPrice(parts: ModelDeps, call: ConsoleCall<SetPriceRoute>): Promise<Reply<SetPriceRoute>> {
  const { path, body, actor, address } = call;
  const running = parts.running();
  const { models, settings } = running;
  const model = models.get(path.model);
  if (model === undefined)
    throw new ConsoleFailure('not_found', 'there is no such model; GET models lists the served models');
  if (model.price !== null || model.targets.every(({ price }) => price !== null)) {
    const place = sourceOfModel(model, running) === 'console' ? 'its route in the console' : 'the configuration file';
    throw new ConsoleFailure(
      'conflict',
      `${place} sets the price of ${model.name}; change it there, or remove the price from there first`,
      { page: '/app/models' },
    );
  }
  const nowMs = parts.nowMs();
  const fromMs = body.from === null ? nowMs : Date.parse(body.from);
  if (fromMs < nowMs) {
    throw new ConsoleFailure(
      'invalid',
      `from: found ${body.from}, which is in the past; expected a future time, or null for now: past costs never change`,
      { member: 'from' },
    );
  }
  const rates = readRates(body);
  const price = parse({ rates, fromMs });
  const route = settings.routes.get(model.name);
  const before = route === undefined ? null : priceAt(route.targets[0].prices, fromMs);
  const stored = { model: model.name, fromMs, rates, createdBy: nameActor(actor), createdAtMs: nowMs };
  const from = new Date(fromMs).toISOString();
  const entry = parts.auditEntry({
    actor,
    address,
    act: 'prices.set',
    subject: model.name,
    before: null,
    after: { from, ...(rates ?? { free: true }) },
  });
  await parts.book.save([{ of: 'price', price: stored }], [entry]);
  const view = renderPeriod({ fromMs, price }, null);
  if (view === null) throw new Error('a price that was set is a price');
  return { ...view, left_out: leftOut(before, rates) };
}

/** Null: free. */
function readRates(body: PriceBody): StoredRates | null {
  const { free, per_1000_requests, per_unit, tiers } = body;
  if (free) {
    const given = (['input', 'output', ...OPTIONAL_RATES] as const).find((member) => (body[member] ?? null) !== null);
    const member =
      given ?? (['per_1000_requests', 'per_unit', 'tiers'] as const).find((one) => body[one] !== undefined);
    if (member === undefined) return null;
    throw new ConsoleFailure('invalid', `${member}: found a price together with free; expected null, or free: false`, {
      member,
    });
  }
  return {
    ...readTokenRates(body, ''),
    ...(tiers === undefined || tiers.length === 0
      ? {}
      : { tiers: tiers.map((tier) => ({ above: tier.above, ...readTokenRates(tier, `tiers.${tier.above}.`) })) }),
    ...(per_1000_requests === undefined ? {} : { per_1000_requests }),
    ...(per_unit === undefined ? {} : { per_unit: present(per_unit) }),
  };
}

/** Without the members that are undefined. */
function present(units: NonNullable<PriceBody['per_unit']>): NonNullable<StoredRates['per_unit']> {
  return Object.fromEntries(Object.entries(units).filter(([, price]) => price !== undefined));
}

/** `path`: the path of the rates, for error messages. */
function readTokenRates(body: TokenRates, path: string) {
  const { input, output } = body;
  if (input === null || output === null) {
    const member = `${path}${input === null ? 'input' : 'output'}`;
    throw new ConsoleFailure('invalid', `${member}: found null, expected USD per million tokens, or free: true`, {
      member,
    });
  }
  const others = OPTIONAL_RATES.flatMap((member) => {
    const rate = body[member] ?? null;
    return rate === null ? [] : [[member, rate] as const];
  });
  return { input, output, ...Object.fromEntries(others) };
}

function parse(price: { readonly rates: StoredRates | null; readonly fromMs: number }) {
  try {
    return parseSetPrice(price);
  } catch (fault) {
    if (!(fault instanceof PriceError)) throw fault;
    throw new ConsoleFailure('invalid', fault.message, { member: fault.member });
  }
}

/** Each optional rate, and the rate that it defaults to. */
const COSTS_AS = {
  cache_read: 'input',
  cache_write_5m: 'input',
  cache_write_1h: 'cache_write_5m',
  reasoning: 'output',
  ...EXTRA_PARTS,
} as const satisfies { readonly [Rate in keyof Rates]?: keyof Rates };

/** The optional rates, in the order in which prices are written. */
const OPTIONAL_RATES = Object.keys(COSTS_AS) as readonly (keyof typeof COSTS_AS)[];

/**
 * Members of the previous price that the new one lacks, by path, such as `per_1000_requests.web_search`: rates with a
 * price of their own, tiers by their bound, fees. Empty where the previous price is unknown, or either price is free.
 */
function leftOut(before: Price | null, rates: StoredRates | null): string[] {
  if (before === null || rates === null) return [];
  const { per_1000_requests: fees = {}, per_unit = {}, tiers = [] } = rates;
  const given = new Set(tiers.map(({ above }) => above));
  return [
    ...OPTIONAL_RATES.filter((rate) => rates[rate] === undefined && before[rate] !== before[COSTS_AS[rate]]),
    ...before.tiers.flatMap(({ inputTokensAbove: above }) => (given.has(above) ? [] : [`tiers.${above}`])),
    ...[...(before.fees ?? [])].flatMap(([kind]) => (Object.hasOwn(fees, kind) ? [] : [`per_1000_requests.${kind}`])),
    ...Object.keys(writeUnitPrices(before.units ?? NO_UNITS)).flatMap((unit) =>
      Object.hasOwn(per_unit, unit) ? [] : [`per_unit.${unit}`],
    ),
  ];
}

type PriceView = z.output<typeof priceView>;

/** Where the definition of a model or its target sets the price; null: it does not. */
type FixedIn = 'file' | 'console' | null;

/** Every version of a model's price, newest first; unknown prices are omitted. */
export function renderPrices(book: PriceBook, fixedIn: FixedIn): readonly PriceView[] {
  return book.flatMap((period) => renderPeriod(period, fixedIn) ?? []).reverse();
}

/** Null: the price of the period is unknown. */
export function renderPeriod({ fromMs, price }: PricePeriod, fixedIn: FixedIn): PriceView | null {
  if (price === null) return null;
  return {
    version: price.version,
    from: Number.isFinite(fromMs) ? new Date(fromMs).toISOString() : null,
    free: isFree(price),
    ...renderRates(price),
    ...(price.fees === null || price.fees.size === 0 ? {} : { per_1000_requests: renderFees(price.fees) }),
    ...(price.units === undefined ? {} : { per_unit: writeUnitPrices(price.units) }),
    ...(price.tiers.length === 0 ? {} : { tiers: price.tiers.map(renderTier) }),
    source: sourceOf(price, fromMs, fixedIn),
  };
}

function renderRates(rates: Rates) {
  const extras = EXTRA_COUNTERS.filter((counter) => rates[counter] !== rates[EXTRA_PARTS[counter]]);
  return {
    input: formatUsdPerMillion(rates.input),
    output: formatUsdPerMillion(rates.output),
    cache_read: formatUsdPerMillion(rates.cache_read),
    cache_write_5m: formatUsdPerMillion(rates.cache_write_5m),
    cache_write_1h: formatUsdPerMillion(rates.cache_write_1h),
    reasoning: formatUsdPerMillion(rates.reasoning),
    ...Object.fromEntries(extras.map((counter) => [counter, formatUsdPerMillion(rates[counter])])),
  };
}

function renderTier({ inputTokensAbove, rates }: PriceTier) {
  return { above: inputTokensAbove, ...renderRates(rates) };
}

function renderFees(fees: Fees) {
  return Object.fromEntries([...fees].map(([kind, fee]) => [kind, formatUsdPerThousand(fee)]));
}

function isFree(price: Price): boolean {
  const isNothing = [...PRICE_MEMBERS, ...EXTRA_COUNTERS].every((member) => price[member] === 0n);
  return isNothing && price.tiers.length === 0 && (price.fees?.size ?? 0) === 0 && price.units === undefined;
}

/**
 * Read from the prefix of the version. `free` is ambiguous: the file, the console and the demo all use it; so is
 * `config`: routes are also defined in the console.
 */
function sourceOf({ version }: Price, fromMs: number, fixedIn: FixedIn): PriceView['source'] {
  if (version.startsWith('console:')) return 'console';
  if (/^config[:@]/.test(version)) return fixedIn ?? 'file';
  if (!version.startsWith('free@')) return 'catalogue';
  return fixedIn ?? (Number.isFinite(fromMs) ? 'console' : 'catalogue');
}
