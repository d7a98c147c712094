/** Defines the command `tollgate requests` (alias `calls`): its flags, and how records are printed. */
import type { Command } from 'commander';
import { renderCallRecord, unpricedToolsOf } from '../../billing/render-call-record.ts';
import { maskKeys } from '../../lib/secret.ts';
import type { CallRecord, StoredKey } from '../../store/ports/records.ts';
import { withReading } from '../administer.ts';
import { type CliEnvironment, renderJsonLine, renderTable } from '../environment.ts';
import { parseCount, parseSpan } from '../flags.ts';

interface Flags {
  readonly limit: number;
  readonly since?: number;
  readonly requestId?: string;
  readonly key?: string;
  readonly traceId?: string;
  readonly json?: true;
}

const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 100_000;

/** Adds `requests` to the program. */
export function register(program: Command, environment: CliEnvironment): void {
  program
    .command('requests')
    .alias('calls')
    .description('show request records, newest first')
    .option('--limit <count>', `maximum number of records, up to ${LIMIT_MAX}`, parseCount(LIMIT_MAX), LIMIT_DEFAULT)
    .option('--since <span>', 'only requests within this duration, such as 1h', parseSpan)
    .option('--request-id <id>', 'only the request with this id')
    .option('--key <id>', 'only requests made with this key')
    .option('--trace-id <id>', 'only the requests of this W3C trace')
    .option('--json', 'print one JSON object per line')
    .action(async (flags: Flags) => {
      const records = await withReading(environment, async (reading) => {
        const found = await reading.readCalls({
          limit: flags.limit,
          sinceMs: flags.since === undefined ? null : environment.nowMs() - flags.since,
          requestId: flags.requestId ?? null,
          keyId: flags.key ?? null,
          ...(flags.traceId !== undefined && { traceId: flags.traceId }),
        });
        if (found.length === 0 && flags.key !== undefined) findKey(await reading.readKeys(), flags.key);
        return found;
      });
      environment.stdout(
        flags.json ? records.map(renderCallRecord).map(renderJsonLine).join('') : renderCalls(records),
      );
    });
}

/** @throws Error if there is no such key. */
function findKey(keys: readonly StoredKey[], id: string): void {
  if (keys.some((key) => key.id === id)) return;
  throw new Error(`There is no key with the id ${JSON.stringify(maskKeys(id))}. List them: tollgate keys list`);
}

function renderCalls(records: readonly CallRecord[]): string {
  if (records.length === 0) return 'No matching requests.\n';
  const rows = records.map((record) => [
    new Date(record.at_ms).toISOString(),
    record.request_id,
    record.key_name,
    record.model ?? '-',
    record.provider ?? '-',
    String(record.status),
    record.error ?? '-',
    `${record.usage.input + record.usage.cache_read + record.usage.cache_write_5m + record.usage.cache_write_1h}/${record.usage.output}`,
    renderCost(record),
    `${Math.round(record.duration_ms)} ms`,
  ]);
  const heading = ['AT', 'REQUEST', 'KEY', 'MODEL', 'PROVIDER', 'STATUS', 'ERROR', 'TOKENS', 'USD', 'TOOK'];
  return renderTable(heading, rows);
}

function renderCost(record: CallRecord): string {
  if (record.cost_nano_usd === null) return 'unpriced';
  const kinds = unpricedToolsOf(record);
  return `${renderUsd(record.cost_nano_usd)}${kinds.length === 0 ? '' : ` (${kinds.join(', ')} unpriced)`}`;
}

/** Converts nano-dollars to dollars digit by digit: money is never a float. */
function renderUsd(nanoUsd: string): string {
  const digits = nanoUsd.replace('-', '').padStart(10, '0');
  const sign = nanoUsd.startsWith('-') ? '-' : '';
  return `${sign}${digits.slice(0, -9)}.${digits.slice(-9)}`;
}
