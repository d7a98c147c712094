/** Resolves the targets of a model and the choice among them, with the rules between their members. */
import { findModel } from '../catalog/catalog.ts';
import { chooseNearName } from '../errors/near-name.ts';
import type { Provider } from '../providers/provider.ts';
import { findHosted } from '../providers/quirks.ts';
import { credentialsFor } from '../providers/upstream.ts';
import type { PriceText, RoutingConfig, RoutingDefaults, TargetConfig } from './config.ts';
import { quoteText, type Report, reportTwice } from './file/config-problem.ts';
import type { ModelShape, RoutingShape } from './file/model-schema.ts';
import { resolvePrice } from './resolve-price.ts';
import { resolveTimeouts } from './resolve-settings.ts';

/** The given routing, completed by `outer`. */
export function resolveRouting(
  shape: RoutingShape | undefined,
  outer: RoutingDefaults,
  report: Report,
): RoutingDefaults {
  const fallbackOn = shape?.fallback_on ?? outer.fallbackOn;
  reportTwice(fallbackOn, (path, fault) => report(['fallback_on', ...path], fault));
  return {
    strategy: shape?.strategy ?? outer.strategy,
    affinity: shape?.affinity ?? outer.affinity,
    maxExtraAttempts: shape?.max_extra_attempts ?? outer.maxExtraAttempts,
    uncertainRetry: shape?.uncertain_retry ?? outer.uncertainRetry,
    hedge: shape?.hedge === undefined ? outer.hedge : shape.hedge === 'on',
    fallbackOn,
  };
}

/** The routing for these targets: by weight where one has a weight, as written otherwise. */
export function chooseRouting(
  { strategy, ...others }: RoutingDefaults,
  targets: readonly Pick<TargetConfig, 'weight'>[],
): RoutingConfig {
  const weighs = targets.some(({ weight }) => weight !== null);
  return { strategy: strategy ?? (weighs ? 'weight' : 'order'), ...others };
}

/** A target without options: the model of that name at the provider. */
export function plainTarget(provider: Provider, model: string): TargetConfig {
  return {
    provider,
    model,
    timeouts: provider.timeouts,
    name: `${provider.name}/${model}`,
    priority: 1,
    weight: null,
    maxConcurrency: provider.maxConcurrency,
    tags: [],
    price: null,
  };
}

type TargetShape = ModelShape['targets'][number];

/** Where the targets of a model are resolved. */
export interface TargetScope {
  readonly modelName: string;
  readonly providers: ReadonlyMap<string, Provider>;
  /** Every provider in the file, including those with a problem of their own, which are not in `providers`. */
  readonly named: ReadonlySet<string>;
}

/** The targets in their order; null if one of them has a problem. */
export function resolveTargets(
  shapes: readonly TargetShape[],
  scope: TargetScope,
  report: Report,
): TargetConfig[] | null {
  const targets: TargetConfig[] = [];
  for (const [index, shape] of shapes.entries()) {
    const target = resolveTarget(shape, scope, (path, fault) => report([index, ...path], fault));
    if (target === null) continue;
    if (targets.some(({ provider, model }) => provider === target.provider && model === target.model)) {
      report([index], {
        found: `${quoteText(target.model)} at ${target.provider.name} twice`,
        expected: 'each model of a provider once',
        advice: 'Remove one of the two targets, or name another model.',
      });
    } else if (targets.some(({ name }) => name === target.name)) {
      report([index, 'name'], {
        found: `${quoteText(target.name)} twice`,
        expected: 'a unique name for each target',
        advice: 'Give it another name.',
      });
    }
    targets.push(target);
  }
  return targets.length < shapes.length ? null : targets;
}

function resolveTarget(shape: TargetShape, scope: TargetScope, report: Report): TargetConfig | null {
  const provider = scope.providers.get(shape.provider);
  if (provider === undefined) {
    if (!scope.named.has(shape.provider)) reportUnknownProvider(shape.provider, scope, report);
    return null;
  }
  if (provider.timeouts === null && shape.timeouts !== undefined) {
    report(['timeouts'], {
      found: `timeouts on a target of kind ${provider.kind.name}`,
      expected: 'none: this kind answers inside the gateway',
      advice: 'Remove it.',
    });
  }
  const tags = shape.tags ?? [];
  reportTwice(tags, (path, fault) => report(['tags', ...path], fault));
  const plain = plainTarget(provider, shape.model ?? scope.modelName);
  if (credentialsFor(provider, plain.model) === null) {
    report(shape.model === undefined ? [] : ['model'], {
      found: `${quoteText(plain.model)}, which is in the models of no key of ${provider.name}`,
      expected: 'a model that a key may be used for',
      advice: 'Add it to the models of a key, or remove models there.',
    });
  }
  return {
    ...plain,
    timeouts: provider.timeouts === null ? null : resolveTimeouts(shape.timeouts, provider.timeouts),
    name: shape.name ?? plain.name,
    priority: shape.priority ?? plain.priority,
    weight: shape.weight ?? plain.weight,
    maxConcurrency: shape.max_concurrency ?? plain.maxConcurrency,
    tags,
    price: resolvePrice(shape.price, (path, fault) => report(['price', ...path], fault)),
  };
}

function reportUnknownProvider(name: string, { providers }: TargetScope, report: Report): void {
  const near = chooseNearName(name, [...providers.keys()]);
  report(['provider'], {
    found: quoteText(name),
    expected: `the name of a provider: ${[...providers.keys()].join(', ')}`,
    advice: near === null ? 'Add it under providers, or name one of these.' : `Did you mean ${near}?`,
  });
}

/** Reports targets that cannot take part in the strategy. `price`: that of the model; null: the catalog's. */
export function checkStrategy(
  { strategy }: RoutingConfig,
  targets: readonly TargetConfig[],
  price: PriceText | null,
  report: Report,
): void {
  for (const [index, target] of targets.entries()) {
    if (strategy !== 'weight' && (target.weight ?? 0) > 0) {
      report([index, 'weight'], {
        found: `a weight with strategy ${strategy}`,
        expected: 'strategy weight, or the weight 0 of a target that is only a fallback',
        advice: 'Remove the weight, or write strategy: weight.',
      });
    }
    if (strategy === 'price' && (target.price ?? price) === null && !hasKnownPrice(target)) {
      report([index], {
        found: `no price of ${quoteText(target.name)} with strategy price`,
        expected: 'a price for each target: the catalogue does not know this one',
        advice: 'Add price to the target or to the model, or write another strategy.',
      });
    }
  }
}

/** Whether the catalogue, or the place of a model, tells its price. */
export function hasKnownPrice({ provider, model }: TargetConfig): boolean {
  if (provider.kind.local !== null) return true;
  const own = provider.catalogProvider === null ? null : { provider: provider.catalogProvider, model };
  const name = own ?? findHosted(provider, model)?.priced ?? null;
  return name !== null && findModel(name.provider, name.model) !== null;
}
