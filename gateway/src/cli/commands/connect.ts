/**
 * Defines the command `tollgate connect`: chooses the key, address and model for a tool, changes its files, tries the
 * connection and reports each step.
 */
import { homedir } from 'node:os';
import { type Command, Option } from 'commander';
import { z } from 'zod';
import { loadConfig } from '../../config/load-config.ts';
import {
  backupPath,
  changeFiles,
  type FileChange,
  readText,
  renderDifference,
  restoreFiles,
} from '../../connect/change-file.ts';
import { type Connection, NOT_CONNECTED, TOOLS, type Tool } from '../../connect/tools.ts';
import { readModels, tryCall } from '../../connect/try-gateway.ts';
import { callControl } from '../../control/control-client.ts';
import { maskKeys } from '../../lib/secret.ts';
import { administer } from '../administer.ts';
import { type CliEnvironment, CliFailure, renderJsonLine } from '../environment.ts';

interface Flags {
  readonly url?: string;
  readonly key?: string;
  readonly model?: string;
  readonly dryRun?: true;
  readonly undo?: true;
  readonly json?: true;
}

/** Where to look for the tools' files and for the gateway's own configuration. */
export interface ConnectContext {
  readonly home: string;
  readonly cwd: string;
  readonly variables: Readonly<Record<string, string | undefined>>;
}

const madeKey = z.object({ id: z.string(), key: z.string() });
const address = z.object({ base_url: z.string().nullable() });
const SHOWN_MODELS_MAX = 12;
/** In a dry run, replaces the key that would be created; it is masked like every key. */
const KEY_TO_BE = `tg_${'0'.repeat(49)}`;

/** Adds `connect` to the program. */
export function register(
  program: Command,
  environment: CliEnvironment,
  surroundings: ConnectContext = { home: homedir(), cwd: process.cwd(), variables: process.env },
): void {
  program
    .command('connect')
    .description('connect a coding tool to the gateway: changes its configuration, and can restore it')
    .argument('<tool>', `one of ${Object.keys(TOOLS).join(', ')}`)
    .option('--url <address>', 'address of the gateway (default: the server running here, else the configured one)')
    .option('--key <key>', 'an API key (default: create one, named after the tool)')
    .option('--model <name>', 'model that the tool requests')
    .option('--dry-run', 'only show what would change')
    .addOption(
      new Option('--undo', 'restore the tool’s previous configuration').conflicts(['url', 'key', 'model', 'dryRun']),
    )
    .option('--json', 'print JSON')
    .action(async (name: string, flags: Flags) => {
      const tool = findTool(name);
      const files = tool.files.map(({ path }) => path(surroundings.home, surroundings.variables));
      if (flags.undo === true) undo(environment, tool, files, flags);
      else await connect(environment, surroundings, { name, tool, files, flags });
    });
}

function findTool(name: string): Tool {
  const tool = Object.hasOwn(TOOLS, name) ? TOOLS[name] : undefined;
  if (tool !== undefined) return tool;
  const why = Object.hasOwn(NOT_CONNECTED, name) ? `: ${NOT_CONNECTED[name]}` : '';
  throw new CliFailure(2, `${name} cannot be connected${why}. Expected one of ${Object.keys(TOOLS).join(', ')}.`);
}

interface ConnectRequest {
  readonly name: string;
  readonly tool: Tool;
  /** The paths of its files. */
  readonly files: readonly string[];
  readonly flags: Flags;
}

async function connect(
  environment: CliEnvironment,
  surroundings: ConnectContext,
  request: ConnectRequest,
): Promise<void> {
  const { name, tool, files, flags } = request;
  const url =
    flags.url === undefined ? ((await runningUrl(environment)) ?? configuredUrl(surroundings)) : parseUrl(flags.url);
  if (tool.needsModel && flags.model === undefined) throw await missingModel(tool, url, flags.key);
  const texts = files.map(readText);
  const edit = (key: string): Change[] =>
    files.map((file, at) => {
      const before = texts[at] ?? '';
      const connection = { url, key, model: flags.model ?? null };
      return { file, before, after: inWords(file, () => tool.files[at]?.edit(before, connection) ?? before) };
    });
  // Checks that the files can be changed before a key is created for them.
  const draft = edit(flags.key ?? KEY_TO_BE);
  if (flags.dryRun === true) {
    say(environment, { tool, changes: draft, flags, keyId: null });
    return;
  }
  const made = flags.key === undefined ? madeKey.parse(await administer(environment, 'keys.create', { name })) : null;
  const connection: Connection = { url, key: flags.key ?? made?.key ?? '', model: flags.model ?? null };
  try {
    await tryCall(connection, tool.protocol, await chooseModel(tool, connection));
    const changes = edit(connection.key);
    changeFiles(changes, made?.id ?? null);
    say(environment, { tool, changes, flags, keyId: made?.id ?? null });
  } catch (fault) {
    if (made !== null) await administer(environment, 'keys.revoke', { id: made.id });
    if (fault instanceof CliFailure) throw fault;
    const words = fault instanceof Error ? fault.message : String(fault);
    throw new CliFailure(1, `${words}\nNot changed: ${files.join(', ')}.`);
  }
}

/** The model of the test call: if none is named, one that the tool itself would choose. */
async function chooseModel(tool: Tool, connection: Connection): Promise<string> {
  if (connection.model !== null) return connection.model;
  const models = await readModels(connection);
  const own = models.find((model) => model.startsWith('claude'));
  if (own !== undefined) return own;
  throw tellModels(tool, models);
}

/** With a key, the error can list the available models. */
async function missingModel(tool: Tool, url: string, key: string | undefined): Promise<CliFailure> {
  if (key === undefined) return new CliFailure(2, `${tool.title} needs a model; expected --model NAME.`);
  try {
    return tellModels(tool, await readModels({ url, key, model: null }));
  } catch (fault) {
    return new CliFailure(1, fault instanceof Error ? fault.message : String(fault));
  }
}

function tellModels(tool: Tool, models: readonly string[]): CliFailure {
  const shown = models.slice(0, SHOWN_MODELS_MAX).join(', ');
  const more = models.length > SHOWN_MODELS_MAX ? `, and ${models.length - SHOWN_MODELS_MAX} more` : '';
  return new CliFailure(2, `${tool.title} needs a model; expected --model with one of: ${shown}${more}.`);
}

function undo(environment: CliEnvironment, tool: Tool, files: readonly string[], flags: Flags): void {
  let keyId: string | null;
  try {
    ({ keyId } = restoreFiles(files));
  } catch (fault) {
    throw new CliFailure(1, fault instanceof Error ? fault.message : String(fault));
  }
  if (flags.json) {
    for (const file of files) environment.stdout(renderJsonLine({ file, key_id: keyId }));
    return;
  }
  const key = keyId === null ? '' : `Its API key still works. Revoke it: tollgate keys revoke ${keyId}\n`;
  environment.stdout(`Restored ${files.join(' and ')}, the configuration of ${tool.title}.\n${key}`);
}

interface Change extends FileChange {
  readonly before: string;
}

interface Outcome {
  readonly tool: Tool;
  readonly changes: readonly Change[];
  readonly flags: Flags;
  readonly keyId: string | null;
}

/** Never prints keys; the files contain them. */
function say(environment: CliEnvironment, { tool, changes, flags, keyId }: Outcome): void {
  const changed = flags.dryRun !== true;
  const shown = changes.map(({ file, before, after }) => ({
    file,
    difference: maskKeys(renderDifference(before, after)),
  }));
  if (flags.json) {
    for (const { file, difference } of shown) {
      environment.stdout(renderJsonLine({ file, changed, difference, key_id: keyId }));
    }
    return;
  }
  const verb = changed ? 'was changed' : 'would change';
  const parts = shown.map(({ file, difference }) =>
    difference === '' ? `${file} needs no change.\n` : `${file} ${verb}:\n\n${difference}`,
  );
  if (!changed) {
    environment.stdout(parts.join('\n'));
    return;
  }
  const key = keyId === null ? '' : `It uses a new API key, ${keyId}.\n`;
  const backups = changes.map(({ file }) => backupPath(file)).join(' and ');
  environment.stdout(
    `A test request succeeded.\n\n${parts.join('\n')}\n${key}The previous content is in ${backups}; tollgate connect … --undo restores it.\nStart ${tool.title}: ${tool.starts}\n`,
  );
}

/** Errors of an editor must not quote the key. */
function inWords(file: string, edit: () => string): string {
  try {
    return edit();
  } catch (fault) {
    const why = fault instanceof Error ? fault.message : String(fault);
    throw new CliFailure(1, `${file} cannot be changed: ${maskKeys(why)}. Correct the file, or move it away.`);
  }
}

function parseUrl(text: string): string {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '' || url.username !== '') {
    throw new CliFailure(2, `--url: found ${JSON.stringify(text)}, expected an address such as https://gw.example`);
  }
  return url.href.replace(/\/+(v1\/*)?$/, '');
}

/** The address of the server of this data folder; null: none is running. */
async function runningUrl({ dataDir }: CliEnvironment): Promise<string | null> {
  try {
    const reply = await callControl(dataDir, 'server.address', {});
    return reply === 'no-server' || !reply.ok ? null : address.parse(reply.result).base_url;
  } catch (fault) {
    throw new CliFailure(1, fault instanceof Error ? fault.message : String(fault));
  }
}

/**
 * The address where a server in this folder would listen; for one that listens on all interfaces, the loopback address.
 */
function configuredUrl({ cwd, variables }: ConnectContext): string {
  const { config } = loadConfig({ environment: variables, cwd });
  if (config === null) {
    throw new CliFailure(1, 'The configuration is invalid (see tollgate check); name the gateway with --url.');
  }
  const { publicUrl, host, port } = config.server;
  if (publicUrl !== null) return publicUrl;
  const reached = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '[::1]' : host.includes(':') ? `[${host}]` : host;
  return `http://${reached}:${port}`;
}
