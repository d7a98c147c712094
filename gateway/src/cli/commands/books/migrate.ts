/** Defines `tollgate migrate-from litellm`: reads its files, imports what they have, and prints what does not carry over. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { z } from 'zod';
import { loadConfig } from '../../../config/load-config.ts';
import { hasKnownPrice } from '../../../config/resolve-routing.ts';
import { createNotes, type Note, type Notes } from '../../../migrate/litellm/notes.ts';
import { type ModelPlan, planModels, section } from '../../../migrate/litellm/plan-models.ts';
import { planTenants, type TenantPlan } from '../../../migrate/litellm/plan-tenants.ts';
import { readLiteLlmConfig, renderConfigFile, variablesIn } from '../../../migrate/litellm/read-config.ts';
import { ExportError, readExport } from '../../../migrate/litellm/read-export.ts';
import { ColumnError, type Row } from '../../../migrate/litellm/table-row.ts';
import { administer } from '../../administer.ts';
import {
  type CliEnvironment,
  CliFailure,
  makeVisible,
  readNamedFile,
  renderJsonLine,
  renderTable,
} from '../../environment.ts';

interface Flags {
  readonly config: string;
  readonly export?: string;
  readonly out: string;
  readonly dryRun?: true;
  readonly json?: true;
}

/** Below the limit of the control socket, with room for the rest of the request. */
const BATCH_CHARS_MAX = 524_288;
const BATCH_ITEMS_MAX = 500;
const NAMES_SHOWN = 12;

const resultShape = z.array(
  z.object({
    kind: z.enum(['account', 'workspace', 'key', 'end_user']),
    name: z.string(),
    id: z.string(),
    outcome: z.enum(['created', 'unchanged', 'spend_updated', 'differs']),
    note: z.string().nullable(),
  }),
);
type Result = z.output<typeof resultShape>[number];
type FileOutcome = 'written' | 'unchanged' | 'kept';

export function register(program: Command, environment: CliEnvironment): void {
  program
    .command('migrate-from')
    .description('take over the models, tenants, limits, spend and keys of another gateway')
    .command('litellm')
    .description('take over a LiteLLM proxy; its keys go on working. Can be repeated: a second run only adds')
    .requiredOption('--config <file>', 'its config.yaml')
    .option('--export <path>', 'a folder with TABLE.csv or TABLE.json files of its database, or one JSON file')
    .option('--out <file>', 'the configuration file to write; one that differs is kept', 'tollgate.yaml')
    .option('--dry-run', 'change nothing, and print what would change')
    .option('--json', 'print JSON')
    .action(async (flags: Flags) => {
      try {
        await migrate(environment, flags);
      } catch (fault) {
        if (!(fault instanceof ExportError) && !(fault instanceof ColumnError)) throw fault;
        throw new CliFailure(1, `${makeVisible(fault.message)}. Nothing was changed.`);
      }
    });
}

async function migrate(environment: CliEnvironment, flags: Flags): Promise<void> {
  const notes = createNotes();
  const config = readLiteLlmConfig(flags.config);
  const models = planModels(config, notes);
  const text = renderConfigFile(models);
  const settings = section(config, 'litellm_settings');
  const tenants =
    flags.export === undefined
      ? null
      : planTenants({
          tables: await readExport(flags.export),
          accessGroups: models.accessGroups,
          proxyBudget: proxyBudgetOf(settings),
          timeZone: typeof settings.timezone === 'string' ? settings.timezone : 'UTC',
          nowMs: environment.nowMs(),
          notes,
        });
  checkFile(text, models, notes);
  const file = writeFile(flags, text);
  const results = tenants === null ? [] : await importTenants(environment, tenants, flags.dryRun === true);
  const served = { providers: models.providers.size, models: models.models.size };
  if (flags.json) {
    environment.stdout(
      renderJsonLine({
        dry_run: flags.dryRun === true,
        file: { path: flags.out, outcome: file, ...served },
        objects: results,
        notes: notes.list(),
      }),
    );
    return;
  }
  environment.stdout(renderReport(flags, file, served, results, notes.list()));
}

function proxyBudgetOf(settings: ReturnType<typeof section>): Row | null {
  const { max_budget, budget_duration } = settings;
  if (typeof max_budget !== 'number') return null;
  return {
    max_budget: String(max_budget),
    budget_duration: typeof budget_duration === 'string' ? budget_duration : null,
  };
}

/** Valid values for variables that are not set here, by the member that they are the value of. */
const PLACEHOLDERS: Readonly<Record<string, string>> = {
  base_url: 'https://placeholder.example',
  project: 'placeholder-1',
  location: 'global',
  region: 'us-east-1',
  api_version: '2024-10-21',
  credentials: JSON.stringify({ type: 'authorized_user', client_id: 'x', client_secret: 'x', refresh_token: 'x' }),
};

/** Checks the new file as the server would, with its variables set, and notes those that are not. */
function checkFile(text: string, { providers, variables: fromTexts }: ModelPlan, notes: Notes): void {
  const memberOf = new Map(
    [...providers.values()].flatMap((provider) => Object.entries(provider).map(([member, value]) => [value, member])),
  );
  const placeholder = (name: string) => PLACEHOLDERS[memberOf.get(`\${${name}}`) ?? ''] ?? 'placeholder';
  const named = variablesIn(text);
  const missing = named.filter((name) => !process.env[name]);
  for (const name of missing) {
    const isNew = fromTexts.includes(name);
    const what = isNew ? 'a secret of config.yaml' : 'a variable of the new file';
    notes.add('todo', what, 'set it in the environment of the server', name);
  }
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-migrate-'));
  try {
    const file = join(folder, 'tollgate.yaml');
    writeFileSync(file, text, { mode: 0o600 });
    const environment = {
      ...process.env,
      ...Object.fromEntries(missing.map((name) => [name, placeholder(name)])),
    };
    const { config, problems } = loadConfig({ file, environment, cwd: folder });
    for (const { path, found, expected } of problems) {
      notes.add('todo', `the new file: ${path}`, `found ${found}, expected ${expected}`);
    }
    for (const { name, price, targets } of config?.models?.values() ?? []) {
      for (const target of targets) {
        if ((target.price ?? price) !== null || hasKnownPrice(target)) continue;
        const why = 'set a price, or price: free; until then a budget refuses their requests';
        notes.add('todo', 'models without a price', why, `${name} (${target.name})`);
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function writeFile({ out, dryRun }: Flags, text: string): FileOutcome {
  if (existsSync(out)) return readNamedFile('--out', out) === text ? 'unchanged' : 'kept';
  if (dryRun === true) return 'written';
  try {
    writeFileSync(out, text, { mode: 0o600 });
  } catch (fault) {
    const code = fault instanceof Error && 'code' in fault ? String(fault.code) : String(fault);
    throw new CliFailure(1, `--out ${out}: the file cannot be written (${code}), expected an existing folder`);
  }
  return 'written';
}

async function importTenants(
  environment: CliEnvironment,
  plan: TenantPlan,
  isDry: boolean,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  // Accounts before the workspaces in them, and those before their keys.
  for (const kind of ['accounts', 'workspaces', 'keys', 'end_users'] as const) {
    for (const items of batchesOf(plan[kind])) {
      const reply = await administer(environment, 'imports.apply', {
        source: 'litellm',
        dry_run: isDry,
        [kind]: items,
      });
      results.push(...resultShape.parse(reply));
    }
  }
  return results;
}

function batchesOf(items: readonly object[]): readonly (readonly object[])[] {
  const batches: object[][] = [];
  let chars = 0;
  for (const item of items) {
    const size = JSON.stringify(item).length;
    const last = batches.at(-1);
    if (last === undefined || last.length === BATCH_ITEMS_MAX || chars + size > BATCH_CHARS_MAX) {
      batches.push([item]);
      chars = size;
    } else {
      last.push(item);
      chars += size;
    }
  }
  return batches;
}

const KINDS = { account: 'accounts', workspace: 'workspaces', key: 'API keys', end_user: 'end users' } as const;
const HEADINGS = { dropped: 'Not carried over', changed: 'Carried over with a difference', todo: 'To do' } as const;

function renderReport(
  { out, dryRun }: Flags,
  file: FileOutcome,
  served: { readonly providers: number; readonly models: number },
  results: readonly Result[],
  notes: readonly Note[],
): string {
  const isDry = dryRun === true;
  const words = {
    written: isDry ? 'would be written' : 'written',
    unchanged: 'unchanged',
    kept: 'exists and differs: kept. Write the new one elsewhere with --out, and compare',
  };
  const lines = [
    `${isDry ? 'Dry run: nothing was changed.\n\n' : ''}${out}: ${words[file]} (${served.providers} providers, ${served.models} models)\n`,
  ];
  const count = (kind: Result['kind'], outcome: Result['outcome']) =>
    String(results.filter((result) => result.kind === kind && result.outcome === outcome).length);
  if (results.length > 0) {
    const rows = (Object.keys(KINDS) as Result['kind'][]).map((kind) => [
      KINDS[kind],
      count(kind, 'created'),
      count(kind, 'spend_updated'),
      count(kind, 'differs'),
      count(kind, 'unchanged'),
    ]);
    lines.push(renderTable(['', isDry ? 'NEW' : 'CREATED', 'SPEND UPDATED', 'DIFFERS', 'UNCHANGED'], rows));
    if (file !== 'written' && results.every(({ outcome }) => outcome === 'unchanged')) lines.push('Nothing changed.\n');
    const noted = results.filter(({ note }) => note !== null);
    lines.push(
      ...noted
        .map(({ kind, name, note }) => makeVisible(`${kind.replace('_', ' ')} ${name}: ${note}`))
        .map((line) => `${line}\n`),
    );
  }
  for (const kind of ['dropped', 'changed', 'todo'] as const) {
    const some = notes.filter((note) => note.kind === kind);
    if (some.length === 0) continue;
    lines.push(`\n${HEADINGS[kind]}:\n`, ...some.map(renderNote));
  }
  if (notes.some(({ names }) => names.length > NAMES_SHOWN)) lines.push('\nAll names: --json\n');
  return lines.join('');
}

function renderNote({ what, why, names }: Note): string {
  const shown = names.slice(0, NAMES_SHOWN).join(', ');
  const more = names.length > NAMES_SHOWN ? ` and ${names.length - NAMES_SHOWN} more` : '';
  return `${makeVisible(`- ${what}: ${why}${names.length === 0 ? '' : ` (${names.length}: ${shown}${more})`}`)}\n`;
}
