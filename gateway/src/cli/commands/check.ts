/** Defines `tollgate check`: validates a configuration, tries its providers, prints its JSON Schema. Starts no server. */
import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { type Probe, probeProvider } from '../../call/attempt/probe-provider.ts';
import { listModelNames } from '../../catalog/catalog.ts';
import { warnOfRetirements } from '../../catalog/retirements.ts';
import type { Config } from '../../config/config.ts';
import { type ConfigProblem, quoteText, renderConfigProblem } from '../../config/file/config-problem.ts';
import { renderConfigSchema } from '../../config/file/file-schema.ts';
import { type ConfigSource, loadConfig } from '../../config/load-config.ts';
import { listServedModels } from '../../config/served-models.ts';
import { setEgressProxy } from '../../upstream/dial.ts';
import { type CliEnvironment, CliFailure, makeVisible, renderJsonLine } from '../environment.ts';

/** Adds the command. `source` provides the file and the variables. */
export function register(
  program: Command,
  environment: CliEnvironment,
  source: Omit<ConfigSource, 'file'> = { environment: process.env, cwd: process.cwd() },
): void {
  program
    .command('check')
    .description('validate a configuration, or print its JSON Schema')
    .argument('[file]', 'the configuration file (default: TOLLGATE_CONFIG, else tollgate.yaml if it exists)')
    .option('--live', 'also connect to each provider with each of its credentials; costs nothing')
    .option('--schema', 'print the JSON Schema of the file')
    .option('--json', 'print JSON: the summary, then one problem or provider per line')
    .action(async (file: string | undefined, flags: { live?: true; schema?: true; json?: true }) => {
      if (flags.schema) {
        environment.stdout(`${JSON.stringify(renderConfigSchema(), null, 2)}\n`);
        return;
      }
      const config = checkFile({ ...source, file }, flags.json === true, environment);
      if (flags.live) await tryProviders(config, flags.json === true, environment);
    });
}

/** Throws CliFailure for a configuration with problems, after printing them. */
function checkFile(source: ConfigSource, json: boolean, environment: CliEnvironment): Config {
  const { config, problems: faults } = loadConfig(source);
  const problems = config === null ? faults : unreadableFiles(config);
  if (config !== null && problems.length === 0) {
    environment.stdout(
      json ? `${JSON.stringify(summarize(config, environment.nowMs()))}\n` : renderSummary(config, environment.nowMs()),
    );
    return config;
  }
  for (const problem of problems) {
    const message = renderConfigProblem(problem);
    environment.stdout(json ? `${JSON.stringify({ ok: false, ...problem, message })}\n` : `${message}\n`);
  }
  if (!json) environment.stdout(`${problems.length} ${problems.length === 1 ? 'problem' : 'problems'}.\n`);
  throw new CliFailure(1, '');
}

/** Files that a start would refuse. A reload accepts them: the server goes on with the certificate that it has. */
function unreadableFiles({ file, server: { tls } }: Config): readonly ConfigProblem[] {
  return Object.entries(tls ?? {}).flatMap(([member, path]) => {
    try {
      readFileSync(path);
      return [];
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
      const found = `${quoteText(path)}, a file that cannot be read (${code})`;
      const advice = 'Correct the path, or run this as the user of the server.';
      const place = { source: file ?? '', line: null, column: null, path: `server.tls.${member}` };
      return [{ ...place, found, expected: 'a file in PEM that the server can read', advice }];
    }
  });
}

/** Tries every credential of every provider, all at once. Throws CliFailure if one of them cannot be used. */
async function tryProviders({ providers, server }: Config, json: boolean, environment: CliEnvironment): Promise<void> {
  setEgressProxy(server.egressProxy);
  const tried = await Promise.all(
    [...providers.values()].flatMap((provider) =>
      provider.baseUrl === null
        ? [tryOne(provider.name, null, probeProvider(provider))]
        : provider.credentials.pool.map((credential) =>
            tryOne(provider.name, credential.name, probeProvider(provider, credential)),
          ),
    ),
  );
  for (const { name, credential, probe } of tried) {
    const { ok, trouble, message, durationMs, models } = probe;
    const view = { provider: name, credential, ok, trouble, message, duration_ms: durationMs, models: models.length };
    const place = credential === null || credential === 'default' ? name : `${name}, credential ${credential}`;
    const line = makeVisible(`${ok ? 'OK' : 'FAILED'}: ${place}: ${message}`);
    environment.stdout(json ? renderJsonLine(view) : `${line}\n`);
  }
  if (tried.some(({ probe }) => !probe.ok)) throw new CliFailure(1, '');
}

async function tryOne(name: string, credential: string | null, probing: Promise<Probe>) {
  return { name, credential, probe: await probing };
}

/** Summarizes a configuration without its credentials. */
function summarize(config: Config, nowMs: number) {
  const served = listServedModels(config, listModelNames);
  return {
    ok: true,
    file: config.file,
    providers_from: config.providersFrom,
    providers: [...config.providers.values()].map((provider) => ({
      name: provider.name,
      kind: provider.kind.name,
      protocols: provider.kind.protocols,
      base_url: provider.baseUrl,
      credential: provider.credentials?.pool.some(({ secrets }) => Object.keys(secrets).length > 0) ?? false,
    })),
    models: [...served.keys()],
    notes: [...config.notes, ...warnOfRetirements(config.models === null ? [] : new Set(served.values()), nowMs)],
  };
}

function renderSummary(config: Config, nowMs: number): string {
  const { file, providers, models, notes } = summarize(config, nowMs);
  const count = (things: readonly unknown[], word: string) =>
    `${things.length} ${word}${things.length === 1 ? '' : 's'}`;
  const lines = [
    `OK: ${file ?? 'no configuration file (none is needed)'}`,
    ...notes,
    `${count(providers, 'provider')}: ${providers.map(({ name, kind }) => `${name} (${kind})`).join(', ')}`,
    `${count(models, 'model name')}${models.length > 12 ? '' : `: ${models.join(', ')}`}`,
  ];
  return `${lines.join('\n')}\n`;
}
