/**
 * Defines the command `tollgate verify`: verifies the ledger, prints the result, and fails if the ledger is invalid.
 */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { type Price, parsePriceVersion } from '../../billing/price.ts';
import { chargedNanoUsd } from '../../billing/price-book.ts';
import type { Usage } from '../../generation/usage.ts';
import type { LedgerProof, NotedEntry } from '../../store/ports/ledger.ts';
import { databasePath } from '../../store/sqlite/database/connection.ts';
import { proveLedger } from '../../store/sqlite/prove/prove-ledger.ts';
import { parseNoted } from '../argument-parsers.ts';
import { type CliEnvironment, CliFailure, makeVisible, renderJsonLine } from '../environment.ts';

/** Adds `verify` to the program. */
export function register(program: Command, environment: CliEnvironment): void {
  program
    .command('verify')
    .description(
      'verify the ledger: order, hashes, sums, and each charge from usage and price; also while a server runs',
    )
    .argument('[file]', 'a database file, such as a backup (default: the database of the data folder)')
    .option('--noted <entry:hash>', 'an entry that an earlier verify printed; it must still exist', parseNoted)
    .option('--json', 'print JSON')
    .action((file: string | undefined, flags: { noted?: NotedEntry; json?: true }) => {
      const path = file === undefined ? databasePath(environment.dataDir) : resolve(file);
      const { entries, calls, last, problem } = prove(path, flags.noted);
      if (flags.json) environment.stdout(renderJsonLine({ ok: problem === null, entries, calls, last, problem }));
      else if (problem !== null) environment.stdout(`${makeVisible(renderProblem(problem))}\n`);
      else
        environment.stdout(`The ledger is valid: ${entries} entries, ${calls} settled requests.\n${renderLast(last)}`);
      if (problem !== null) throw new CliFailure(1, '');
    });
}

/** Entries cut off at the end leave no trace; a last entry noted elsewhere reveals them. */
function renderLast(last: NotedEntry | null): string {
  return last === null ? '' : `Its last entry, to store in another place: --noted ${last.entry}:${last.hash}\n`;
}

/** Bounds the prices kept in memory; a ledger has few versions, each used by many calls. */
const PRICES_MAX = 10_000;

/** @throws CliFailure with exit code 1 if the file cannot be read. */
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

/** Renders the first problem found. */
export function renderProblem({ entry, message }: NonNullable<LedgerProof['problem']>): string {
  return `The ledger is invalid: ${entry === null ? '' : `entry ${entry}: `}${message}.`;
}
