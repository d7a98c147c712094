/**
 * Defines the commands on the data folder: `verify` (verifies the ledger), `backup` (copies the data and verifies the
 * copy before it gets its final name) and `replace-master-key`.
 */

import { existsSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { type Price, parsePriceVersion } from '../../billing/price.ts';
import { chargedNanoUsd } from '../../billing/price-book.ts';
import type { Usage } from '../../generation/usage.ts';
import type { LedgerProof, NotedPlace } from '../../store/ports/ledger.ts';
import { CONTENT_SCHEMA } from '../../store/sqlite/content/content-database.ts';
import { contentPath } from '../../store/sqlite/content/content-store.ts';
import { backupDatabase } from '../../store/sqlite/database/backup-database.ts';
import { databasePath } from '../../store/sqlite/database/connection.ts';
import { acquireDataLock } from '../../store/sqlite/database/data-folder.ts';
import { type ReplacedMasterKey, replaceMasterKey } from '../../store/sqlite/database/master-key.ts';
import { completeCopy } from '../../store/sqlite/ingest/complete-copy.ts';
import { proveLedger } from '../../store/sqlite/prove/prove-ledger.ts';
import { type CliEnvironment, CliFailure, makeVisible, renderJsonLine } from '../environment.ts';
import { parseNoted } from '../flags.ts';

/** Adds the commands to the program. */
export function register(program: Command, environment: CliEnvironment): void {
  registerVerify(program, environment);
  registerBackup(program, environment);
  registerReplaceMasterKey(program, environment);
}

function registerVerify(program: Command, environment: CliEnvironment): void {
  program
    .command('verify')
    .description(
      'verify the ledger: order, hashes, sums, and each charge from usage and price; also while a server runs',
    )
    .argument('[file]', 'a database file, such as a backup (default: the database of the data folder)')
    .option('--noted <number:hash>', 'what an earlier verify printed; it must still exist', parseNoted)
    .option('--json', 'print JSON')
    .action((file: string | undefined, flags: { noted?: NotedPlace; json?: true }) => {
      const path = file === undefined ? databasePath(environment.dataDir) : resolve(file);
      const { entries, blocks, calls, last, problem } = prove(path, flags.noted);
      if (flags.json)
        environment.stdout(renderJsonLine({ ok: problem === null, entries, blocks, calls, last, problem }));
      else if (problem !== null) environment.stdout(`${makeVisible(renderProblem(problem))}\n`);
      else
        environment.stdout(
          `The ledger is valid: ${blocks} blocks, ${entries} entries, ${calls} settled requests.\n${renderLast(last)}`,
        );
      if (problem !== null) throw new CliFailure(1, '');
    });
}

/** Blocks cut off at the end with all that was made of them leave no trace; a last one noted elsewhere reveals it. */
function renderLast(last: NotedPlace | null): string {
  return last === null ? '' : `Its end, to store in another place: --noted ${last.number}:${last.hash}\n`;
}

/** Bounds the prices kept in memory; a ledger has few versions, each used by many calls. */
const PRICES_MAX = 10_000;

/** @throws CliFailure with exit code 1 if the file cannot be read. */
export function prove(path: string, noted: NotedPlace | null = null): LedgerProof {
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
export function renderProblem({ entry, block, message }: NonNullable<LedgerProof['problem']>): string {
  const place = block !== null ? `block ${block}: ` : entry !== null ? `entry ${entry}: ` : '';
  return `The ledger is invalid: ${place}${message.replace(/\.$/, '')}.`;
}

interface Copy {
  readonly file: string;
  readonly bytes: number;
}

/** Adds `backup` to the program. */
function registerBackup(program: Command, environment: CliEnvironment): void {
  program
    .command('backup')
    .description('copy the database to a new file, also while a server runs, and verify the copy')
    .argument('<file>', 'the new file; it must not exist')
    .option('--with-content', 'also copy stored prompts and responses, to <file>.content')
    .option('--json', 'print JSON')
    .action((file: string, flags: { withContent?: true; json?: true }) => {
      const { dataDir } = environment;
      const made = makeBackup(dataDir, resolve(file), flags.withContent === true);
      environment.stdout(flags.json ? renderJsonLine(made) : renderBackup(dataDir, made, flags.withContent === true));
    });
}

/** Copies everything requested, or nothing. */
function makeBackup(dataDir: string, file: string, withContent: boolean) {
  let found = { entries: 0, blocks: 0, calls: 0 };
  try {
    const path = databasePath(dataDir);
    const bytes = backupDatabase(path, file, (copy) => {
      completeCopy(copy, path);
      const { problem, entries, blocks, calls } = prove(copy);
      if (problem !== null) throw new Error(`${renderProblem(problem)} No backup was created; see tollgate verify`);
      found = { entries, blocks, calls };
    });
    return { file, bytes, ...found, content: withContent ? copyContent(contentPath(dataDir), file) : null };
  } catch (fault) {
    throw new CliFailure(1, fault instanceof Error ? fault.message : String(fault));
  }
}

/** Null: no content is stored. @throws the copy's error, after deleting the copy of the database. */
function copyContent(from: string, database: string): Copy | null {
  if (!existsSync(from)) return null;
  const file = `${database}.content`;
  try {
    return { file, bytes: backupDatabase(from, file, () => undefined, CONTENT_SCHEMA) };
  } catch (fault) {
    rmSync(database);
    throw fault;
  }
}

function renderBackup(
  dataDir: string,
  { file, bytes, entries, blocks, calls, content }: ReturnType<typeof makeBackup>,
  withContent: boolean,
): string {
  const lines = content === null ? renderNoContent(dataDir, withContent) : renderContent(content);
  return `Copied ${bytes} bytes to ${file}; its ledger is valid: ${blocks} blocks, ${entries} entries, ${calls} settled requests.\n${lines}Keep ${dataDir}/master.key as well, in another place: without it no API key of the copy works${content === null ? '' : ', and stored prompts and responses cannot be read'}.\n`;
}

function renderContent({ file, bytes }: Copy): string {
  return `Copied ${bytes} bytes of prompts and responses, encrypted, to ${file}.\n`;
}

function renderNoContent(dataDir: string, withContent: boolean): string {
  if (!existsSync(contentPath(dataDir))) return withContent ? 'No prompts or responses are stored.\n' : '';
  return `Not copied: prompts and responses (${contentPath(dataDir)}). To copy them too: --with-content\n`;
}

/** Adds the command to the program. */
function registerReplaceMasterKey(program: Command, environment: CliEnvironment): void {
  program
    .command('replace-master-key')
    .description('create a new master key for a data folder that lost its own: every API key then needs a new secret')
    .requiredOption('--lost', 'confirm that the master key is lost and no copy exists')
    .option('--json', 'print JSON')
    .action((flags: { json?: true }) => {
      const replaced = replace(environment);
      environment.stdout(
        flags.json === true
          ? renderJsonLine({ moved_to: replaced.movedTo, keys: replaced.keys })
          : renderReplaced(replaced),
      );
    });
}

function replace({ dataDir, nowMs }: CliEnvironment): ReplacedMasterKey {
  try {
    const lock = acquireDataLock(dataDir);
    if (lock === 'held')
      throw new Error(`A server runs on the data folder ${dataDir}: its master key is not lost. Stop it first.`);
    try {
      return replaceMasterKey(dataDir, nowMs());
    } finally {
      lock.release();
    }
  } catch (fault) {
    throw new CliFailure(1, fault instanceof Error ? fault.message : String(fault));
  }
}

function renderReplaced({ movedTo, keys }: ReplacedMasterKey): string {
  const kept = movedTo === null ? '' : `The previous file is now ${movedTo}.\n`;
  return `${kept}The data folder has a new master key. What the lost one protected cannot be read again:
- ${keys} API ${keys === 1 ? 'key does' : 'keys do'} not work. Give each a new secret: tollgate keys rotate ID --grace 0s
- Credentials of providers that were entered in the console: enter them again.
- Addresses and signing secrets of guardrail hooks, whose rules then refuse requests, unless they fail open: tollgate guardrails set ID --url URL
- Those of alert webhooks: enter the address again in the console, or create the alert again.
- Second factors and sessions of the console: tollgate reset-password EMAIL --without-second-factor
- Kept prompts and responses, stored and cached answers, are lost.
The ledger, the records and all limits are unchanged. Keep a copy of master.key apart from your backups.
`;
}
