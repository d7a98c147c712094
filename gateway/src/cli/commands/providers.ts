/** Defines the commands `tollgate providers …`: what providers serve, and the servers of models on this machine. */
import type { Command } from 'commander';
import { providerModelsView } from '../../control/routing/routing-shapes.ts';
import { detectLocalServers } from '../../providers/presets/detect-local.ts';
import { createGuardedFetch } from '../../upstream/guarded-fetch.ts';
import { administer } from '../administer.ts';
import { type CliEnvironment, CliFailure, renderJsonLine, renderTable } from '../environment.ts';

interface Flags {
  readonly add?: string[];
  readonly json?: true;
}

/** Adds `providers` and its commands to the program. `ask`: for the servers on this machine, whose addresses are constants. */
export function register(program: Command, environment: CliEnvironment, ask = createGuardedFetch(() => true)): void {
  const providers = program
    .command('providers')
    .alias('provider')
    .description('see what providers serve, and find servers of models on this machine');

  providers
    .command('models')
    .description('list the models that a provider serves, and under which names the gateway serves them')
    .argument('<provider>', 'the name of the provider')
    .option('--add <model...>', 'models of the list to serve under their own names, each by a route of its own')
    .option('--json', 'print one JSON object per line')
    .action(async (provider: string, flags: Flags) => {
      const list = async () =>
        providerModelsView.parse(await administer(environment, 'providers.models', { provider }));
      let listed = await list();
      const missing = listed.cut
        ? undefined
        : flags.add?.find((name) => !listed.models.some(({ model }) => model === name));
      if (missing !== undefined) {
        throw new CliFailure(
          1,
          `${provider} does not list the model ${JSON.stringify(missing)}, so nothing was added. To serve it all the same: tollgate routes create ${missing} --target provider=${provider}`,
        );
      }
      for (const model of flags.add ?? []) {
        await administer(environment, 'routes.create', { model, targets: [{ provider, model }] });
        if (!flags.json) environment.stdout(`The model ${model} is served.\n`);
      }
      if (flags.add !== undefined) listed = await list();
      const { message, models, cut } = listed;
      const rows = models.map(({ model, served_as, retires }) => [
        model,
        served_as.join(', ') || '-',
        retires === null ? '-' : `${retires.on}${retires.by === 'vendor' ? ' (at its vendor)' : ''}`,
      ]);
      if (flags.json) environment.stdout(models.map(renderJsonLine).join(''));
      else if (rows.length === 0) environment.stdout('It lists no model.\n');
      else environment.stdout(renderTable(['MODEL', 'SERVED AS', 'SHUTS DOWN'], rows));
      if (cut) environment.stderr(`${message}\n`);
    });

  providers
    .command('detect')
    .description('find servers of models on this machine by asking their usual ports; nothing is configured')
    .option('--json', 'print one JSON object per line')
    .action(async (flags: Flags) => {
      const found = await detectLocalServers(ask);
      if (flags.json) environment.stdout(found.map(renderJsonLine).join(''));
      else if (found.length === 0) environment.stdout('No server of models answers on the usual ports of 127.0.0.1.\n');
      else {
        const rows = found.map(({ title, baseUrl, models }) => [title, baseUrl, String(models.length)]);
        const lines = found.map(({ preset, baseUrl, isUsual }) => {
          const [name, address] = isUsual
            ? [preset, '']
            : [`${preset}-${new URL(baseUrl).port}`, `, base_url: ${baseUrl}`];
          return `  ${name}: { kind: openai-compatible, preset: ${preset}${address} }\n`;
        });
        environment.stdout(
          `${renderTable(['SERVER', 'ADDRESS', 'MODELS'], rows)}Add under providers:\n${lines.join('')}`,
        );
      }
    });
}
