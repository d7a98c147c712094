/**
 * Resolves the models of the file: the rules between models, their names, their targets and the providers. Chooses no
 * target and no price.
 */

import { parseInstantMs } from '../lib/quantity.ts';
import { CLIENT_PROTOCOL_NAMES, type ClientProtocolName } from '../protocols/names.ts';
import type { Provider } from '../providers/provider.ts';
import {
  type Capabilities,
  type ModelConfig,
  NO_CAPABILITIES,
  type PricePeriodText,
  type PriceText,
  type RatesText,
  type RoutingDefaults,
  type TargetConfig,
} from './config.ts';
import { chooseNearName, type PathStep, quoteText, type Report } from './file/config-problem.ts';
import type { CapabilityShape, ModelShape } from './file/file-schema.ts';
import type { PricePeriodShape, PriceShape } from './file/scalar-schema.ts';
import { NO_ENTRY } from './resolve-providers.ts';
import { chooseRouting, plainTarget } from './resolve-routing.ts';
import { resolveTimeouts } from './resolve-settings.ts';

/**
 * The models of the file by name; a model with a problem is omitted. `named`: every provider in the file, including
 * those with a problem of their own, which are not in `providers`.
 */
export function resolveModels(
  shapes: { readonly [name: string]: ModelShape },
  providers: ReadonlyMap<string, Provider>,
  named: ReadonlySet<string>,
  routing: RoutingDefaults,
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
    const protocols = resolveProtocols(
      shape.protocols ?? CLIENT_PROTOCOL_NAMES,
      CLIENT_PROTOCOL_NAMES,
      (path, fault) => {
        report(['models', name, 'protocols', ...path], fault);
      },
    );
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
      routing: chooseRouting(routing, targets),
      capabilities,
      price,
    });
  }
  return models;
}

function resolveTarget(
  modelName: string,
  shape: ModelShape['targets'][number],
  providers: ReadonlyMap<string, Provider>,
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
  if (provider.timeouts === null && shape.timeouts !== undefined) {
    report(['timeouts'], {
      found: `timeouts on a target of kind ${provider.kind.name}`,
      expected: 'none: this kind answers inside the gateway',
      advice: 'Remove it.',
    });
  }
  const timeouts = provider.timeouts === null ? null : resolveTimeouts(shape.timeouts, provider.timeouts);
  return { ...plainTarget(provider, shape.model ?? modelName), timeouts };
}

/** Converts an alias to a mapping, in whichever form it was written. */
function readAlias(alias: NonNullable<ModelShape['alias']>[number]) {
  return typeof alias === 'string' ? { name: alias, protocols: undefined } : alias;
}

/**
 * Reports duplicates, and protocols that are not in `served`: an alias opens no endpoint that its model does not have.
 */
function resolveProtocols(
  protocols: readonly ClientProtocolName[],
  served: readonly ClientProtocolName[],
  report: Report,
) {
  for (const [index, protocol] of protocols.entries()) {
    if (protocols.indexOf(protocol) < index) {
      report([index], { found: `${protocol} twice`, expected: 'each once', advice: 'Remove one of them.' });
    } else if (!served.includes(protocol)) {
      report([index], {
        found: protocol,
        expected: `${served.join(' or ')}, as the protocols of its model say`,
        advice: `Remove ${protocol}, or add it to the protocols of the model.`,
      });
    }
  }
  return protocols;
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
          advice: 'Choose another name, or remove one of them.',
        });
      }
      owners.set(alias, `an alias of ${quoteText(name)}`);
    }
  }
}

/** Converts the price to the configuration's form; reports problems by their path below the price. */
function resolvePrice(shape: PriceShape | undefined, report: Report): PriceText | null {
  if (shape === undefined) return null;
  if (shape === 'free') return shape;
  if (!Array.isArray(shape)) return resolvePeriod(shape, [], report);
  const beginnings = shape.map(({ from }) => (from === undefined ? null : parseInstantMs(from)));
  for (const [index, beginning] of beginnings.entries()) {
    if (beginnings.indexOf(beginning) === index) continue;
    report(beginning === null ? [index] : [index, 'from'], {
      found: beginning === null ? 'a second price without from' : 'the same start as another price',
      expected: 'a different start for each price; one price may have none',
      advice: 'Give it another from, or remove one of them.',
    });
  }
  return shape.map((period, index) => resolvePeriod(period, [index], report));
}

function resolvePeriod(shape: PricePeriodShape, path: readonly PathStep[], report: Report): PricePeriodText {
  const { tiers, from, per_1000_requests, modifiers, ...rates } = shape;
  const period = {
    ...resolveRates(rates, path, report),
    ...(from === undefined ? {} : { from }),
    ...(per_1000_requests === undefined ? {} : { per_1000_requests }),
    ...(modifiers === undefined ? {} : { modifiers: resolveModifiers(modifiers) }),
  };
  if (tiers === undefined) return period;
  let below = 0;
  const resolved = tiers.map(({ above, ...tierRates }, index) => {
    if (above <= below) {
      report([...path, 'tiers', index, 'above'], {
        found: String(above),
        expected: `more than ${below}, the limit of the previous tier`,
        advice: 'Write the tiers in ascending order, each once.',
      });
    }
    below = above;
    return { above, ...resolveRates(tierRates, [...path, 'tiers', index], report) };
  });
  return { ...period, tiers: resolved };
}

type RatesShape = Omit<PricePeriodShape, 'tiers' | 'from' | 'per_1000_requests' | 'modifiers'>;

/** Omitted members are absent, not undefined. */
function resolveModifiers(
  shape: NonNullable<PricePeriodShape['modifiers']>,
): NonNullable<PricePeriodText['modifiers']> {
  return Object.fromEntries(Object.entries(shape).filter(([, words]) => words !== undefined));
}

/** Omitted members are absent, not undefined. */
function resolveRates(shape: RatesShape, path: readonly PathStep[], report: Report): RatesText {
  if (shape.cache_write !== undefined && shape.cache_write_5m !== undefined) {
    report([...path, 'cache_write'], {
      found: 'cache_write together with cache_write_5m',
      expected: 'one of the two: they mean the same',
      advice: 'Remove one.',
    });
  }
  const { input, output, ...others } = shape;
  const given = Object.entries(others).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return { input, output, ...Object.fromEntries(given) };
}

/** Reports contradictions. */
function resolveCapabilities(shape: CapabilityShape | undefined, report: Report): Capabilities {
  if (shape === undefined) return NO_CAPABILITIES;
  const { reasoning_effort, thinking, output_limit, ...flags } = shape;
  for (const [name, list] of [
    ['reasoning_effort', reasoning_effort],
    ['thinking', thinking],
  ] as const) {
    const asks = list?.filter((word) => word !== 'none' && word !== 'disabled') ?? [];
    if (shape.reasoning !== 'false' || asks.length === 0) continue;
    report([name], {
      found: `${asks.join(', ')} with reasoning: false`,
      expected: 'none, since the model does not reason',
      advice: `Remove ${name}, or write reasoning: true.`,
    });
  }
  const accepted = Object.fromEntries(Object.entries(flags).map(([name, word]) => [name, word === 'true']));
  return { ...accepted, reasoning_effort, thinking, output_limit };
}
