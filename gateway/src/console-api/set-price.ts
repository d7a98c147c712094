/** Owns setting a model's price from a moment on: what is refused, what is kept, what is answered. */
import { PriceError } from '../billing/money.ts';
import { parseSetPrice } from '../billing/set-price.ts';
import { MEDIA_COUNTERS } from '../generation/usage-apart.ts';
import type { StoredRates } from '../store/provider-port.ts';
import { ConsoleFailure } from './console-failure.ts';
import type { ReadBody } from './contract.ts';
import type { ConsoleCall } from './handlers.ts';
import { type ModelDesk, nameActor } from './model-desk.ts';
import { type PriceView, renderPeriod } from './price-view.ts';

type SetPriceRoute = 'PUT /accounts/{account}/models/{model}/price';
type PriceBody = ReadBody<SetPriceRoute>;

const OPTIONAL_RATES = ['cache_read', 'cache_write_5m', 'cache_write_1h', 'reasoning', ...MEDIA_COUNTERS] as const;

/** Keeps the price, and takes it over: it binds the next call. */
export async function setPrice(desk: ModelDesk, call: ConsoleCall<SetPriceRoute>): Promise<PriceView> {
  const { path, body, actor, address } = call;
  const { served } = desk.running();
  const model = served.get(path.model);
  if (model === undefined)
    throw new ConsoleFailure('not_found', 'there is no such model; GET models lists what is served');
  if (model.price !== null) {
    throw new ConsoleFailure(
      'conflict',
      `the configuration file sets the price of ${model.name}; change it there, or take its price out of the file first`,
      { page: '/app/models' },
    );
  }
  const nowMs = desk.nowMs();
  const fromMs = body.from === null ? nowMs : Date.parse(body.from);
  if (fromMs < nowMs) {
    throw new ConsoleFailure(
      'invalid',
      `from: found ${body.from}, which is past; expected a time to come, or null for now: what calls have cost never changes`,
      { member: 'from' },
    );
  }
  const rates = readRates(body);
  const price = parse({ rates, fromMs });
  await desk.book.addPrice({ model: model.name, fromMs, rates, createdBy: nameActor(actor), createdAtMs: nowMs });
  await desk.reload();
  const from = new Date(fromMs).toISOString();
  await desk.note({
    actor,
    address,
    act: 'prices.set',
    subject: model.name,
    before: null,
    after: { from, ...(rates ?? { free: true }) },
  });
  const view = renderPeriod({ fromMs, price }, false);
  if (view === null) throw new Error('a price that was set is a price');
  return view;
}

/** Null: free. */
function readRates(body: PriceBody): StoredRates | null {
  const { free, input, output } = body;
  if (free) {
    const given = (['input', 'output', ...OPTIONAL_RATES] as const).find((member) => (body[member] ?? null) !== null);
    if (given === undefined && body.per_1000_requests === undefined) return null;
    const member = given ?? 'per_1000_requests';
    throw new ConsoleFailure('invalid', `${member}: found a price beside free; expected null, or free: false`, {
      member,
    });
  }
  if (input === null || output === null) {
    const member = input === null ? 'input' : 'output';
    throw new ConsoleFailure('invalid', `${member}: found null, expected USD per million tokens, or free: true`, {
      member,
    });
  }
  const others = OPTIONAL_RATES.flatMap((member) => {
    const rate = body[member] ?? null;
    return rate === null ? [] : [[member, rate] as const];
  });
  const { per_1000_requests } = body;
  return {
    input,
    output,
    ...Object.fromEntries(others),
    ...(per_1000_requests === undefined ? {} : { per_1000_requests }),
  };
}

function parse(price: { readonly rates: StoredRates | null; readonly fromMs: number }) {
  try {
    return parseSetPrice(price);
  } catch (fault) {
    if (!(fault instanceof PriceError)) throw fault;
    throw new ConsoleFailure('invalid', fault.message, { member: fault.member });
  }
}
