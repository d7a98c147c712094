/** Owns the fees of a price for requests of tools that run upstream, by kind of tool, and their text in its version. */
import { TOOL_KIND, type UsageApart } from '../generation/usage-apart.ts';
import { formatUsdPerThousand, type NanoUsd, PriceError, parseUsdPerThousand } from './money.ts';

/** Nano-USD per request, by kind; 0 is a price, a missing kind is none. Its order is that of the kinds' names. */
export type Fees = ReadonlyMap<string, NanoUsd>;

export const NO_FEES: Fees = new Map();

/** A fee per kind as written: USD per 1,000 requests. */
export type WrittenFees = { readonly [kind: string]: string | number | undefined };

/**
 * Hosts whose every answer searches name one of these in it, the class of the request: a call of such a host has one.
 * Perplexity, https://docs.perplexity.ai/getting-started/pricing (read 2025).
 */
const CLASSES_OF_A_CALL = ['search_low', 'search_medium', 'search_high'] as const;

/** The kinds that hosts are known to charge for; they may count others. */
export const KNOWN_KINDS: readonly string[] = ['web_search', 'web_fetch', ...CLASSES_OF_A_CALL];

const FEE = /^([^=]+)=([^/]+)\/1000$/;

/** @throws PriceError naming the kind that is no name of a tool, or whose fee is not a usable number. */
export function parseFees(written: WrittenFees): Fees {
  const fees = Object.entries(written).map(([kind, fee]) => {
    if (!TOOL_KIND.test(kind)) {
      throw new PriceError(JSON.stringify(kind), 'no name of a tool', 'lower-case letters, digits and _: web_search');
    }
    return [kind, parseUsdPerThousand(fee ?? '', kind)] as const;
  });
  return new Map(fees.sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** `;web_search=10/1000` for each fee: USD per 1,000 requests. */
export function renderFees(fees: Fees): string {
  return [...fees].map(([kind, fee]) => `;${kind}=${formatUsdPerThousand(fee)}/1000`).join('');
}

/** The fees that such steps of a version text state. @throws PriceError; null where one is no fee. */
export function parseFeeSteps(steps: readonly string[]): Fees | null {
  const written: Record<string, string> = {};
  for (const step of steps) {
    const [, kind = '', fee = ''] = FEE.exec(step) ?? [];
    if (!TOOL_KIND.test(kind) || Object.hasOwn(written, kind)) return null;
    written[kind] = fee;
  }
  return parseFees(written);
}

/** The kinds of tools that were used and for which the price has no fee, sorted: they are in no bill. */
export function unpricedTools(apart: UsageApart | undefined, fees: Fees | null): readonly string[] {
  if (apart?.server_tools === undefined || fees === null) return [];
  return Object.keys(apart.server_tools)
    .filter((kind) => !fees.has(kind))
    .sort();
}

/**
 * The most that a call's requests may be charged: of the tools that it declares, so many each, and for being of a class,
 * whatever it declares.
 */
export function mostFees(fees: Fees, declared: ReadonlyMap<string, number> | undefined): NanoUsd {
  let declaredNanoUsd = 0n;
  for (const [kind, requests] of declared ?? []) declaredNanoUsd += (fees.get(kind) ?? 0n) * BigInt(requests);
  let most = 0n;
  for (const kind of CLASSES_OF_A_CALL) {
    const fee = fees.get(kind) ?? 0n;
    if (fee > most) most = fee;
  }
  return declaredNanoUsd + most;
}
