/** Defines `tollgate reconcile …`: compares a provider's export with the records, and shows what was found. */
import { basename } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { formatNanoUsd } from '../../../billing/money.ts';
import { type ConfigSource, loadConfig } from '../../../config/load-config.ts';
import { Secret } from '../../../lib/secret.ts';
import { type Comparison, compareInvoice } from '../../../reconcile/compare.ts';
import { APIS, fetchInvoice, type Get } from '../../../reconcile/fetch-invoice.ts';
import { InvoiceError, type InvoiceLine } from '../../../reconcile/invoice-line.ts';
import { type OwnAttempt, ownAttempts } from '../../../reconcile/own-attempts.ts';
import { FORMATS, type Invoice, readInvoice } from '../../../reconcile/read-invoice.ts';
import {
  causeWords,
  differencePercent,
  exceedsPercent,
  renderFindingsCsv,
} from '../../../reconcile/render-findings.ts';
import type { Finding, ProviderCallReader, ReconciledDay } from '../../../store/ports/books/reconciliation.ts';
import { setEgressProxy } from '../../../upstream/dial.ts';
import { createGuardedFetch } from '../../../upstream/guarded-fetch.ts';
import { administer, withReading } from '../../administer.ts';
import { type CliEnvironment, CliFailure, makeVisible, renderJsonLine, renderTable } from '../../environment.ts';

interface ImportFlags {
  readonly provider: readonly string[];
  readonly timeZone: string;
  readonly failAbove?: string;
  readonly dryRun?: true;
  readonly json?: true;
}

const DAY_MS = 86_400_000;
/** Kept in memory while they are compared, about half a kilobyte each. */
const ATTEMPTS_MAX = 2_000_000;
const LIST_MAX = 100;
/** Below the limit of the control socket. */
const REQUEST_CHARS_MAX = 900_000;
const FILE_CHARS_MAX = 256;

interface FetchFlags extends ImportFlags {
  readonly secret: string;
  readonly from: string;
  readonly to: string;
}

/**
 * Adds `reconcile` and its commands to the program. `get`: for the APIs, whose addresses are constants. `source`: of the
 * secret and of the proxy.
 */
export function register(
  program: Command,
  environment: CliEnvironment,
  get: Get = createGuardedFetch(() => true),
  source: Omit<ConfigSource, 'file'> = { environment: process.env, cwd: process.cwd() },
): void {
  const reconcile = program.command('reconcile').description('compare what providers bill with the records');
  addImportFlags(
    reconcile
      .command('import')
      .description(`compare an export of a provider. Formats: ${FORMATS.map(({ title }) => title).join('; ')}`)
      .argument('<file>', 'the export, .csv, .json or .jsonl'),
  ).action((file: string, flags: ImportFlags) => importFile(environment, file, flags));
  addImportFlags(
    reconcile
      .command('fetch')
      .description('fetch usage or costs from the administrative API of a provider, and compare them')
      .argument('<api>', Object.keys(APIS).join(', '))
      .requiredOption('--secret <variable>', 'the environment variable that has an admin key of the organization')
      .requiredOption('--from <day>', 'the first day in UTC, such as 2026-11-01')
      .requiredOption('--to <day>', 'the last day in UTC'),
  ).action((api: string, flags: FetchFlags) =>
    reporting(async () => {
      const { from: firstDay, to: lastDay } = flags;
      const secret = secretIn(flags.secret, source.environment);
      setEgressProxy(loadConfig(source).config?.server.egressProxy ?? null);
      const invoice = await fetchInvoice(api, { firstDay, lastDay, secret, get });
      await compareAndKeep(environment, invoice, `${api}, ${firstDay} to ${lastDay}`, flags);
    }),
  );
  reconcile
    .command('list')
    .description('list the imports, the newest first')
    .option('--json', 'print one JSON object per line')
    .action(async (flags: { readonly json?: true }) => {
      const found = await withReading(environment, ({ reconciliations }) => reconciliations.list(LIST_MAX));
      if (flags.json) {
        environment.stdout(found.map((each) => renderJsonLine(withTexts(each))).join(''));
        return;
      }
      const rows = found.map((each) => [
        each.id,
        each.providers,
        each.file,
        `${each.firstDay} to ${each.lastDay}`,
        formatNanoUsd(each.billed),
        formatNanoUsd(each.recorded),
        differencePercent(each),
        String(each.findings),
      ]);
      environment.stdout(
        renderTable(['ID', 'PROVIDERS', 'FILE', 'DAYS', 'BILLED', 'RECORDED', 'DIFFERENCE', 'FINDINGS'], rows),
      );
    });
  reconcile
    .command('show')
    .description('show the days and findings of an import')
    .argument('<id>', 'its id')
    .option('--csv', 'print the findings as CSV')
    .option('--json', 'print JSON')
    .action(async (id: string, flags: { readonly csv?: true; readonly json?: true }) => {
      const found = await withReading(environment, ({ reconciliations }) => reconciliations.read(id));
      if (found === null)
        throw new CliFailure(1, `There is no reconciliation ${JSON.stringify(id)}. List them: tollgate reconcile list`);
      if (flags.csv) environment.stdout(renderFindingsCsv(found.list));
      else if (flags.json) environment.stdout(renderJsonLine(withTexts(found)));
      else environment.stdout(renderComparison({ ...found, findings: found.list }));
    });
}

function addImportFlags(command: Command): Command {
  return command
    .requiredOption('--provider <names...>', 'the providers of the configuration that it bills')
    .option('--time-zone <name>', 'the IANA time zone in which the provider counts days', 'UTC')
    .option(
      '--fail-above <percent>',
      'exit with status 1 where the difference is more than this part of the bill',
      percent,
    )
    .option('--dry-run', 'keep nothing')
    .option('--json', 'print JSON');
}

function percent(text: string): string {
  if (/^\d{1,3}(\.\d{1,4})?$/.test(text)) return text;
  throw new InvalidArgumentError('expected a percentage such as 1 or 0.5');
}

/** @throws CliFailure */
function secretIn(variable: string, variables: Readonly<Record<string, string | undefined>>): Secret {
  const value = /^[A-Za-z_][A-Za-z0-9_]*$/.test(variable) ? variables[variable] : undefined;
  if (value !== undefined && value !== '') return new Secret(value);
  throw new CliFailure(2, '--secret: expected the name of an environment variable that has the key');
}

async function importFile(environment: CliEnvironment, file: string, flags: ImportFlags): Promise<void> {
  await reporting(async () => compareAndKeep(environment, await readInvoice(file), basename(file), flags));
}

async function reporting(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (fault) {
    if (fault instanceof InvoiceError) throw new CliFailure(1, `${makeVisible(fault.message)}. Nothing was imported.`);
    throw fault;
  }
}

async function compareAndKeep(
  environment: CliEnvironment,
  invoice: Invoice,
  file: string,
  flags: ImportFlags,
): Promise<void> {
  const dayOf = dayIn(flags.timeZone);
  const [firstDay, lastDay] = rangeOf(invoice.lines, file);
  const attempts = await withReading(environment, (reading) =>
    readAttempts(reading, { providers: flags.provider, firstDay, lastDay, dayOf }),
  );
  const comparison = compareInvoice(invoice.lines, attempts);
  const id = idOf(flags.provider, invoice);
  if (flags.dryRun !== true) {
    const about = { id, file, invoice, flags, firstDay, lastDay };
    await administer(environment, 'reconciliations.save', requestOf(comparison, about));
  }
  const { format, lines } = invoice;
  if (flags.json) environment.stdout(renderJsonLine(withTexts({ id, format: format.name, ...comparison })));
  else {
    const kept = flags.dryRun === true ? '' : `${id}\n`;
    environment.stdout(`${kept}${format.title}, ${lines.length} lines\n${renderComparison(comparison)}`);
  }
  if (flags.failAbove === undefined || !exceedsPercent(comparison, flags.failAbove)) return;
  throw new CliFailure(1, `The difference is ${differencePercent(comparison)}, more than ${flags.failAbove}%.`);
}

function idOf(providers: readonly string[], { digest }: Invoice): string {
  const hash = new Bun.CryptoHasher('sha256').update(`${providers.join(',')} ${digest}`).digest('hex');
  return `rec_${hash.slice(0, 24)}`;
}

/** @throws CliFailure */
function dayIn(timeZone: string): (atMs: number) => string {
  try {
    const format = new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' });
    return (atMs) => format.format(atMs);
  } catch {
    throw new CliFailure(
      2,
      `--time-zone: found ${JSON.stringify(timeZone)}, expected an IANA name such as Europe/Berlin`,
    );
  }
}

function rangeOf(lines: readonly InvoiceLine[], file: string): readonly [string, string] {
  const [first] = lines;
  if (first === undefined) throw new InvoiceError(`${file}: found no lines with use`);
  let [from, to] = [first.day, first.day];
  for (const { day } of lines) {
    if (day < from) from = day;
    if (day > to) to = day;
  }
  return [from, to];
}

async function readAttempts(
  reading: ProviderCallReader,
  range: {
    readonly providers: readonly string[];
    readonly firstDay: string;
    readonly lastDay: string;
    readonly dayOf: (atMs: number) => string;
  },
): Promise<readonly OwnAttempt[]> {
  const { providers, firstDay, lastDay, dayOf } = range;
  // A day around them: time zones, and requests that ran over midnight.
  const fromMs = Date.parse(firstDay) - DAY_MS;
  const toMs = Date.parse(lastDay) + 2 * DAY_MS;
  const names = new Set(providers);
  const attempts: OwnAttempt[] = [];
  let after: string | null = null;
  for (;;) {
    const page = await reading.readProviderCalls({ providers, fromMs, toMs, after });
    for (const record of page) attempts.push(...ownAttempts(record, names, dayOf));
    if (attempts.length > ATTEMPTS_MAX) {
      throw new InvoiceError(`found more than ${ATTEMPTS_MAX} attempts in these days; split the export by days`);
    }
    const last = page.at(-1);
    if (last === undefined) return attempts;
    after = last.request_id;
  }
}

interface About {
  readonly id: string;
  readonly file: string;
  readonly invoice: Invoice;
  readonly flags: ImportFlags;
  readonly firstDay: string;
  readonly lastDay: string;
}

function requestOf(comparison: Comparison, { id, file, invoice, flags, firstDay, lastDay }: About): object {
  const request = (findings: readonly Finding[]) => ({
    id,
    providers: flags.provider.join(', '),
    format: invoice.format.name,
    file: file.slice(0, FILE_CHARS_MAX),
    first_day: firstDay,
    last_day: lastDay,
    time_zone: flags.timeZone,
    lines: invoice.lines.length,
    ...withTexts({ billed: comparison.billed, recorded: comparison.recorded, explained: comparison.explained }),
    days: comparison.days.map(({ billedRequests, recordedRequests, model, ...rest }) => ({
      ...withTexts(rest),
      model: model.slice(0, 256),
      billed_requests: billedRequests,
      recorded_requests: recordedRequests,
    })),
    findings: findings.map(({ requestId, providerRequestId, model, ...rest }) => ({
      ...withTexts(rest),
      model: model.slice(0, 256),
      request_id: requestId,
      provider_request_id: providerRequestId?.slice(0, 256) ?? null,
    })),
  });
  const named = request(comparison.findings);
  if (JSON.stringify(named).length <= REQUEST_CHARS_MAX) return named;
  const summed = request(sumByCause(comparison.findings));
  if (JSON.stringify(summed).length <= REQUEST_CHARS_MAX) return summed;
  throw new CliFailure(
    1,
    'The comparison is too large to be kept. Split the export by days, or print it: --dry-run --json',
  );
}

/** One finding for each day, model and cause, without the requests. */
function sumByCause(findings: readonly Finding[]): readonly Finding[] {
  const groups = Map.groupBy(findings, ({ day, model, cause }) => JSON.stringify([day, model, cause]));
  return [...groups.values()].flatMap(([first, ...others]) => {
    if (first === undefined || others.length === 0) return first ?? [];
    const count = others.reduce((sum, each) => sum + each.count, first.count);
    const amount = others.reduce((sum, each) => sum + each.amount, first.amount);
    const detail = `${count} findings; to name the requests, split the export by days`;
    return { ...first, requestId: null, attempt: null, providerRequestId: null, count, amount, detail };
  });
}

interface Shown {
  readonly days: readonly ReconciledDay[];
  readonly findings: readonly Finding[];
  readonly billed: bigint;
  readonly recorded: bigint;
  readonly explained: bigint;
}

function renderComparison({ days, findings, billed, recorded, explained }: Shown): string {
  const usd = (amount: bigint | null) => (amount === null ? '' : formatNanoUsd(amount));
  const differing = days.filter((day) => (day.billed ?? day.recorded) !== day.recorded || day.explained !== 0n);
  const rows = differing.map((day) => [
    day.day,
    day.model,
    day.billedRequests === null ? '' : String(day.billedRequests),
    String(day.recordedRequests),
    usd(day.billed),
    usd(day.recorded),
    usd(day.billed === null ? null : day.billed - day.recorded),
    usd(day.explained),
  ]);
  const found = findings.map((each) => [
    each.day,
    each.model,
    causeWords(each.cause),
    usd(each.amount),
    each.requestId ?? '',
    each.providerRequestId ?? '',
    each.detail,
  ]);
  const heading = ['DAY', 'MODEL', 'BILLED REQ.', 'RECORDED REQ.', 'BILLED', 'RECORDED', 'DIFFERENCE', 'EXPLAINED'];
  return [
    `billed ${usd(billed)}, recorded ${usd(recorded)}: ${usd(billed - recorded)} USD (${differencePercent({ billed, recorded })}), explained ${usd(explained)}\n`,
    rows.length === 0 ? 'No day differs.\n' : renderTable(heading, rows),
    found.length === 0
      ? ''
      : `\n${renderTable(['DAY', 'MODEL', 'CAUSE', 'USD', 'REQUEST', 'PROVIDER ID', 'DETAIL'], found)}`,
  ].join('');
}

/** Amounts as decimal texts of nano-USD. */
function withTexts(value: object): Record<string, unknown> {
  return JSON.parse(
    JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? each.toString() : each)),
  ) as Record<string, unknown>;
}
