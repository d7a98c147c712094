/** Owns the list of how the providers that are used are doing, for pages that show it beside other things. */
import type { HealthView } from '../gateway/provider-health.ts';
import type { ModelDesk } from './model-desk.ts';

export interface ProviderState extends Pick<HealthView, 'state' | 'calls' | 'errors'> {
  readonly name: string;
}

/** The configuration's providers first, then the console's. */
export function listProviderStates({ running, health }: Pick<ModelDesk, 'running' | 'health'>): ProviderState[] {
  const { settings, added } = running();
  const entered = added.flatMap(({ provider }) => provider?.name ?? []);
  return [...settings.config.providers.keys(), ...entered].map((name) => {
    const { state, calls, errors } = health.read(name);
    return { name, state, calls, errors };
  });
}
