/** Owns the rules between models, their names, their targets and the providers. Chooses no target and no price. */
import { ALL_PROTOCOLS, type ModelConfig, type Protocol, type ProviderConfig, type TargetConfig } from './config.ts';
import { quoteText } from './config-problem.ts';
import type { ModelShape } from './file-schema.ts';
import { chooseNearName } from './near-name.ts';
import { resolveCapabilities } from './resolve-capabilities.ts';
import { resolveTimeouts } from './resolve-limits.ts';
import { resolvePrice } from './resolve-price.ts';
import { NO_ENTRY, type Report } from './resolve-providers.ts';

/**
 * The models of the file by name; one with a problem is left out. `named`: every provider that stands in the file, also
 * those that have a problem of their own and are not in `providers`.
 */
export function resolveModels(
  shapes: { readonly [name: string]: ModelShape },
  providers: ReadonlyMap<string, ProviderConfig>,
  named: ReadonlySet<string>,
  report: Report,
): Map<string, ModelConfig> {
  if (Object.keys(shapes).length === 0) report(['models'], NO_ENTRY);
  reportNamesGivenTwice(shapes, report);
  const models = new Map<string, ModelConfig>();
  for (const [name, shape] of Object.entries(shapes)) {
    const targets = shape.targets.flatMap((target, index) => {
      const resolved = resolveTarget(name, target, providers, named, (path, fault) => {
        report(['models', name, 'targets', index, ...path], fault);
      });
      return resolved ?? [];
    });
    const [first, ...others] = targets;
    if (first === undefined || targets.length < shape.targets.length) continue;
    const protocols = resolveProtocols(shape.protocols ?? ALL_PROTOCOLS, ALL_PROTOCOLS, (path, fault) => {
      report(['models', name, 'protocols', ...path], fault);
    });
    const alias = (shape.alias ?? []).map(readAlias).map((entry, index) => {
      if (entry.protocols === undefined) return { name: entry.name, protocols };
      const reportHere: Report = (path, fault) => report(['models', name, 'alias', index, 'protocols', ...path], fault);
      return { name: entry.name, protocols: resolveProtocols(entry.protocols, protocols, reportHere) };
    });
    const capabilities = resolveCapabilities(shape.capabilities, (path, fault) =>
      report(['models', name, 'capabilities', ...path], fault),
    );
    const price = resolvePrice(shape.price, (path, fault) => report(['models', name, 'price', ...path], fault));
    models.set(name, {
      name,
      alias,
      protocols,
      targets: [first, ...others],
      capabilities,
      price,
    });
  }
  return models;
}

function resolveTarget(
  modelName: string,
  shape: ModelShape['targets'][number],
  providers: ReadonlyMap<string, ProviderConfig>,
  named: ReadonlySet<string>,
  report: Report,
): TargetConfig | null {
  const provider = providers.get(shape.provider);
  if (provider === undefined && named.has(shape.provider)) return null;
  if (provider === undefined) {
    const near = chooseNearName(shape.provider, [...providers.keys()]);
    report(['provider'], {
      found: quoteText(shape.provider),
      expected: `the name of a provider: ${[...providers.keys()].join(', ')}`,
      advice: near === null ? 'Add it under providers, or name one of these.' : `Did you mean ${near}?`,
    });
    return null;
  }
  if (provider.kind === 'demo' && shape.timeouts !== undefined) {
    report(['timeouts'], {
      found: 'timeouts on a target of kind demo',
      expected: 'none: the demo answers inside the gateway',
      advice: 'Remove it.',
    });
  }
  const timeouts = provider.kind === 'demo' ? null : resolveTimeouts(shape.timeouts, provider.timeouts);
  return { provider, model: shape.model ?? modelName, timeouts };
}

/** An alias as a mapping, whichever way it was written. */
function readAlias(alias: NonNullable<ModelShape['alias']>[number]) {
  return typeof alias === 'string' ? { name: alias, protocols: undefined } : alias;
}

/** Reports what stands twice, and what is not among `served`: an alias opens no endpoint that its model does not have. */
function resolveProtocols(asked: readonly Protocol[], served: readonly Protocol[], report: Report) {
  for (const [index, protocol] of asked.entries()) {
    if (asked.indexOf(protocol) < index) {
      report([index], { found: `${protocol} a second time`, expected: 'each once', advice: 'Remove one of the two.' });
    } else if (!served.includes(protocol)) {
      report([index], {
        found: protocol,
        expected: `${served.join(' or ')}, as the protocols of its model say`,
        advice: `Remove ${protocol}, or add it to the protocols of the model.`,
      });
    }
  }
  return asked;
}

function reportNamesGivenTwice(shapes: { readonly [name: string]: ModelShape }, report: Report): void {
  const owners = new Map<string, string>(Object.keys(shapes).map((name) => [name, `the model ${quoteText(name)}`]));
  for (const [name, shape] of Object.entries(shapes)) {
    for (const [index, written] of (shape.alias ?? []).entries()) {
      const alias = readAlias(written).name;
      const owner = owners.get(alias);
      if (owner !== undefined) {
        const path = ['models', name, 'alias', index];
        report(typeof written === 'string' ? path : [...path, 'name'], {
          found: `${quoteText(alias)}, which is already the name of ${owner}`,
          expected: 'a name that no other model or alias has',
          advice: 'Choose another name, or remove one of the two.',
        });
      }
      owners.set(alias, `an alias of ${quoteText(name)}`);
    }
  }
}
