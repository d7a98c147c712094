/** Defines the command that lists what a provider serves, with the names under which the gateway serves it. */
import { z } from 'zod';
import type { Served } from '../../config/console-entries.ts';
import { givenId } from '../arguments.ts';
import { CommandFailure, type ControlCommand, defineCommand } from '../command.ts';
import { readServed } from './routing-scope.ts';

/** What a provider serves: each model's name there, and its public names here; empty: it is not served. */
export const providerModelsView = z.object({
  provider: z.string(),
  message: z.string(),
  models: z.array(z.object({ model: z.string(), served_as: z.array(z.string()) })),
});

const models = defineCommand(z.strictObject({ provider: givenId }), async (run, { provider }) => {
  const served = await readServed(run);
  const found =
    served.config.providers.get(provider) ?? served.providers.find(({ entry }) => entry.name === provider)?.provider;
  if (found === undefined || found === null) {
    throw new CommandFailure(
      `There is no provider ${JSON.stringify(provider)} that can be used. The gateway has: ${namesIn(served)}`,
    );
  }
  const { ok, message, models: listed } = await run.routing.probe(found);
  if (!ok) throw new CommandFailure(`${provider}: ${message}`);
  const names = namesAt(served, provider);
  return { provider, message, models: listed.map((model) => ({ model, served_as: names.get(model) ?? [] })) };
});

/** The public names by the name at the provider. */
function namesAt({ models: all }: Served, provider: string): ReadonlyMap<string, string[]> {
  const found = new Map<string, string[]>();
  for (const model of new Set(all.values())) {
    for (const target of model.targets) {
      if (target.provider.name !== provider) continue;
      found.set(target.model, [...(found.get(target.model) ?? []), model.name]);
    }
  }
  return found;
}

function namesIn({ config, providers }: Served): string {
  return [...config.providers.keys(), ...providers.map(({ entry }) => entry.name)].join(', ');
}

export const PROVIDER_COMMANDS: readonly (readonly [name: string, command: ControlCommand])[] = [
  ['providers.models', models],
];
