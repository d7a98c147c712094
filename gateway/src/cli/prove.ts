/** Owns proving the ledger of a database file for commands, with each charge computed anew from usage and price. */
import { chargedNanoUsd } from '../billing/cost.ts';
import { type Price, parsePriceVersion } from '../billing/price.ts';
import type { Usage } from '../generation/usage.ts';
import type { LedgerProof, NotedEntry } from '../store/ledger-port.ts';
import { proveLedger } from '../store/sql/prove-ledger.ts';
import { CliFailure } from './cli-environment.ts';

/** Bounds the prices kept in memory; a ledger has few versions, each used by many calls. */
const PRICES_MAX = 10_000;

/** @throws CliFailure with exit code 1 where the file cannot be read. */
export function prove(path: string, noted: NotedEntry | null = null): LedgerProof {
  const prices = new Map<string, Price>();
  const priceOf = (version: string) => {
    const price = prices.get(version) ?? parsePriceVersion(version);
    if (prices.size < PRICES_MAX) prices.set(version, price);
    return price;
  };
  const recompute = (usage: Usage, version: string) => chargedNanoUsd(usage, priceOf(version), priceOf);
  try {
    return proveLedger(path, recompute, noted);
  } catch (fault) {
    throw new CliFailure(1, fault instanceof Error ? fault.message : String(fault));
  }
}

/** The first thing that does not hold, in words. */
export function renderProblem({ entry, message }: NonNullable<LedgerProof['problem']>): string {
  return `The ledger does not hold: ${entry === null ? '' : `entry ${entry}: `}${message}.`;
}
