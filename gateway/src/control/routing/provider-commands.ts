/** Defines the command that lists what a provider serves, with the names under which the gateway serves it. */
import { z } from 'zod';
import type { Served } from '../../config/console-entries.ts';
import { givenId } from '../arguments.ts';
import { CommandFailure, type ControlCommand, defineCommand, type OfferedModel } from '../command.ts';
import { readServed } from './routing-scope.ts';

const models = defineCommand(z.strictObject({ provider: givenId }), async (run, { provider }) => {
  const served = await readServed(run);
  const found =
    served.config.providers.get(provider) ?? served.providers.find(({ entry }) => entry.name === provider)?.provider;
  if (found === undefined || found === null) {
    throw new CommandFailure(
      `There is no provider ${JSON.stringify(provider)} that can be used. The gateway has: ${namesIn(served)}`,
    );
  }
  const { ok, message, models: offered, isCut } = await run.routing.probe(found);
  if (!ok) throw new CommandFailure(`${provider}: ${message}`);
  return { provider, message, models: viewOffered(offered, served, provider), cut: isCut };
});

/** The models that a provider offers, each with the names that it is served under. */
export function viewOffered(offered: readonly OfferedModel[], served: Served, provider: string) {
  const names = namesAt(served, provider);
  return offered.map(({ model, retires }) => ({
    model,
    served_as: names.get(model) ?? [],
    retires: retires === null ? null : { ...retires },
  }));
}

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

/** They wait for providers, and change nothing. */
export const PROVIDER_COMMANDS: readonly (readonly [name: string, command: ControlCommand])[] = [
  ['providers.models', models],
];
