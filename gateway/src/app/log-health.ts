/** Logs each change of a target's or credential's state; an operator has to act on the ones that are alarms. */
import type { HealthEvent } from '../routing/health/routing-state.ts';
import type { Log } from '../telemetry/log.ts';

const MESSAGES: { readonly [kind in Exclude<HealthEvent['kind'], 'limp' | 'benched'>]: string } = {
  opened: 'a provider fails: calls go elsewhere, or to it only if nothing else is left',
  closed: 'a provider is back',
  restored: 'a provider accepts the credential again',
};

const BENCHED: { readonly [why: string]: string } = {
  credential: 'a provider refuses our credential: check it; calls use others meanwhile',
  quota: 'a credential has used up its quota or credit at the provider: top it up; calls use others meanwhile',
  config: 'a provider does not know the configured model or address: correct it; calls go elsewhere meanwhile',
};

export function logHealth(log: Pick<Log, 'info' | 'warn' | 'error'>, event: HealthEvent): void {
  if (event.kind === 'limp') {
    log.error({ model: event.route }, 'no target of the model has worked for a minute');
    return;
  }
  const { kind, scope, provider, model, credential, why } = event;
  const fields = { scope, provider, model, credential, why };
  if (kind === 'benched') log.error(fields, BENCHED[why ?? ''] ?? 'a target or credential is not used for a while');
  else if (kind === 'opened') log.warn(fields, MESSAGES[kind]);
  else log.info(fields, MESSAGES[kind]);
}
