/** Defines `tollgate check`: validates a configuration and prints its JSON Schema. Starts no server. */
import type { Command } from 'commander';
import { listModelNames } from '../../catalog/catalog.ts';
import type { Config } from '../../config/config.ts';
import { renderConfigProblem } from '../../config/file/config-problem.ts';
import { renderConfigSchema } from '../../config/file/file-schema.ts';
import { type ConfigSource, loadConfig } from '../../config/load-config.ts';
import { listServedModels } from '../../config/served-models.ts';
import { type CliEnvironment, CliFailure } from '../environment.ts';

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
    .option('--schema', 'print the JSON Schema of the file')
    .option('--json', 'print JSON: the summary, or one problem per line')
    .action((file: string | undefined, flags: { schema?: true; json?: true }) => {
      if (flags.schema) environment.stdout(`${JSON.stringify(renderConfigSchema(), null, 2)}\n`);
      else checkFile({ ...source, file }, flags.json === true, environment);
    });
}

function checkFile(source: ConfigSource, json: boolean, environment: CliEnvironment): void {
  const { config, problems } = loadConfig(source);
  if (config !== null) {
    environment.stdout(json ? `${JSON.stringify(summarize(config))}\n` : renderSummary(config));
    return;
  }
  for (const problem of problems) {
    const message = renderConfigProblem(problem);
    environment.stdout(json ? `${JSON.stringify({ ok: false, ...problem, message })}\n` : `${message}\n`);
  }
  if (!json) environment.stdout(`${problems.length} ${problems.length === 1 ? 'problem' : 'problems'}.\n`);
  throw new CliFailure(1, '');
}

/** Summarizes a configuration without its credentials. */
function summarize(config: Config) {
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
    notes: config.notes,
  };
}

function renderSummary(config: Config): string {
  const { file, providers, models, notes } = summarize(config);
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
