/** Resolves the models of the file, and the rules between models, their names and their capabilities. */

import { CLIENT_PROTOCOL_NAMES, type ClientProtocolName } from '../protocols/names.ts';
import type { Provider } from '../providers/provider.ts';
import { type Capabilities, type ModelConfig, NO_CAPABILITIES, type RoutingDefaults } from './config.ts';
import { quoteText, type Report, reportTwice } from './file/config-problem.ts';
import type { CapabilityShape, ModelShape } from './file/model-schema.ts';
import { resolvePrice } from './resolve-price.ts';
import { NO_ENTRY } from './resolve-providers.ts';
import { checkStrategy, chooseRouting, resolveRouting, resolveTargets } from './resolve-routing.ts';

/**
 * The models of the file by name; a model with a problem is omitted. `named`: every provider in the file, including
 * those with a problem of their own, which are not in `providers`.
 */
export function resolveModels(
  shapes: { readonly [name: string]: ModelShape },
  providers: ReadonlyMap<string, Provider>,
  named: ReadonlySet<string>,
  defaults: RoutingDefaults,
  report: Report,
): Map<string, ModelConfig> {
  if (Object.keys(shapes).length === 0) report(['models'], NO_ENTRY);
  reportNamesGivenTwice(shapes, report);
  const models = new Map<string, ModelConfig>();
  for (const [name, shape] of Object.entries(shapes)) {
    const reportTargets: Report = (path, fault) => report(['models', name, 'targets', ...path], fault);
    const targets = resolveTargets(shape.targets, { modelName: name, providers, named }, reportTargets);
    const [first, ...others] = targets ?? [];
    if (targets === null || first === undefined) continue;
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
    const routing = chooseRouting(
      resolveRouting(shape.routing, defaults, (path, fault) => report(['models', name, 'routing', ...path], fault)),
      targets,
    );
    checkStrategy(routing, targets, price, reportTargets);
    models.set(name, {
      name,
      alias,
      protocols,
      targets: [first, ...others],
      routing,
      capabilities,
      price,
    });
  }
  return models;
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
  reportTwice(protocols, report);
  for (const [index, protocol] of protocols.entries()) {
    if (served.includes(protocol) || protocols.indexOf(protocol) < index) continue;
    report([index], {
      found: protocol,
      expected: `${served.join(' or ')}, as the protocols of its model say`,
      advice: `Remove ${protocol}, or add it to the protocols of the model.`,
    });
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
