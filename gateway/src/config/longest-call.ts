/** Owns how long a call may run by a configuration, whoever answers it. Enforces nothing: each attempt's own limits do. */
import type { Config } from './config.ts';

/** The greatest total time limit, in milliseconds, of all providers and targets. */
export function longestCallMs({
  timeouts,
  providers,
  models,
}: Pick<Config, 'timeouts' | 'providers' | 'models'>): number {
  let longest = timeouts.totalMs;
  for (const provider of providers.values()) {
    if (provider.kind !== 'demo') longest = Math.max(longest, provider.timeouts.totalMs);
  }
  for (const { targets } of models?.values() ?? []) {
    for (const target of targets) longest = Math.max(longest, target.timeouts?.totalMs ?? 0);
  }
  return longest;
}
