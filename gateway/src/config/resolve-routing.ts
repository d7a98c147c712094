/** Resolves how a model chooses among its targets, and the targets without options of their own. */
import type { Provider } from '../providers/provider.ts';
import type { RoutingConfig, RoutingDefaults, TargetConfig } from './config.ts';

/** The defaults for these targets. */
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
    maxConcurrency: null,
    tags: [],
    price: null,
  };
}
