/**
 * Finds what concerns the operator: providers that fail or refuse a credential, models that retire, a store in trouble,
 * invoices that differ from the records.
 */
import type { AlertRule, FoundAlert } from '../store/ports/books/alerts.ts';
import type { ReconciledDay } from '../store/ports/books/reconciliation.ts';
import { DAY_MS, foundAlert, once, shownTime, shownUsd } from './found-alert.ts';

export interface ObservedProvider {
  readonly name: string;
  readonly state: 'healthy' | 'failing' | 'idle';
  /** Over the last 15 minutes. */
  readonly calls: number;
  readonly errors: number;
}

export interface ObservedCredential {
  readonly provider: string;
  readonly name: string;
  /** Why it is not used for now; null: it is used. */
  readonly why: 'credential' | 'quota' | 'rate' | null;
}

export interface ObservedRetirement {
  readonly provider: string;
  /** The model's name there. */
  readonly model: string;
  /** The day from which it is gone, such as `2026-12-31`. */
  readonly on: string;
  /** The public names that lead to it. */
  readonly names: readonly string[];
}

/** Of this process. `untilMs` null: it lasts. */
export interface ObservedTrouble {
  readonly what: string;
  readonly cause: string;
  readonly sinceMs: number;
  readonly untilMs: number | null;
}

const PROVIDERS = '/app/providers';

/** Once a day while a provider fails. */
export function findFailingProviders(
  own: readonly AlertRule[],
  providers: readonly ObservedProvider[],
  nowMs: number,
): readonly FoundAlert[] {
  return providers
    .filter(({ state }) => state === 'failing')
    .flatMap(({ name, calls, errors }) => {
      const text = `Provider ${name} is failing: ${errors} of ${calls} requests of the last 15 minutes failed.`;
      const remedy = { label: 'Show providers', page: PROVIDERS };
      return own.map((rule) => foundAlert(rule, { event: ['provider', name], text, remedy, repeatMs: DAY_MS }, nowMs));
    });
}

/** Once a day while a credential is refused or its quota is used up; not for a rate limit. */
export function findRefusedCredentials(
  own: readonly AlertRule[],
  credentials: readonly ObservedCredential[],
  nowMs: number,
): readonly FoundAlert[] {
  return credentials.flatMap(({ provider, name, why }) => {
    if (why !== 'credential' && why !== 'quota') return [];
    const text =
      why === 'credential'
        ? `Provider ${provider} rejects the credential ${name}.`
        : `The quota of credential ${name} at provider ${provider} is used up.`;
    const remedy = { label: why === 'credential' ? 'Replace credential' : 'Show credentials', page: PROVIDERS };
    const event = ['credential', provider, name, why];
    return own.map((rule) => foundAlert(rule, { event, text, remedy, repeatMs: DAY_MS }, nowMs));
  });
}

export function findRetiringModels(
  own: readonly AlertRule[],
  retirements: readonly ObservedRetirement[],
  nowMs: number,
): readonly FoundAlert[] {
  return retirements.flatMap(({ provider, model, on, names }) => {
    const leftMs = Date.parse(on) - nowMs;
    const due = own.filter(({ threshold }) => leftMs <= Number(threshold) * DAY_MS);
    const ends = leftMs > 0 ? 'shuts down' : 'was to shut down';
    const text = `Model ${model} at ${provider} ${ends} on ${on}: choose another model for ${names.join(', ')}.`;
    const remedy = { label: 'Show models', page: '/app/models' };
    return due.map((rule) =>
      foundAlert(rule, { event: ['retiring', provider, model, on], text, remedy, repeatMs: null }, nowMs),
    );
  });
}

/** Also trouble that has ended: while the database takes no writes, nothing can be enqueued. */
export function findTroubles(
  own: readonly AlertRule[],
  troubles: readonly ObservedTrouble[],
  nowMs: number,
): readonly FoundAlert[] {
  return troubles.flatMap(({ what, cause, sinceMs, untilMs }) => {
    const times = untilMs === null ? `since ${shownTime(sinceMs)}` : `${shownTime(sinceMs)} to ${shownTime(untilMs)}`;
    const text = `${what} (${times}): ${cause}`;
    const remedy = { label: 'Show status', page: '/status' };
    const finding = { event: ['trouble', what, sinceMs], text, remedy, repeatMs: null };
    return own.map((rule) => foundAlert(untilMs === null ? rule : once(rule), finding, nowMs));
  });
}

/** An export of a provider that was compared with the records. */
export interface ObservedReconciliation {
  readonly id: string;
  readonly providers: string;
  readonly importedAtMs: number;
  readonly days: readonly ReconciledDay[];
}

/** Differences below it are rounding, nano-USD. */
const DIFFERENCE_MIN = 10_000_000n;

/** Once for each import since the rule was created that has a day and model whose difference passes the percentage. */
export function findDifferences(
  own: readonly AlertRule[],
  reconciliations: readonly ObservedReconciliation[],
  nowMs: number,
): readonly FoundAlert[] {
  return reconciliations.flatMap(({ id, providers, importedAtMs, days }) =>
    own.flatMap((rule) => {
      const differing = days
        .map(({ day, model, billed, recorded }) => ({ day, model, billed: billed ?? recorded, recorded }))
        .map((one) => ({ ...one, difference: magnitude(one.billed - one.recorded) }))
        .filter(
          ({ billed, difference }) =>
            difference >= DIFFERENCE_MIN && difference * 100n > magnitude(billed) * rule.threshold,
        )
        .sort((one, other) => (other.difference > one.difference ? 1 : -1));
      const [most] = differing;
      if (most === undefined || importedAtMs < rule.createdAtMs) return [];
      const others = differing.length - 1;
      const rest = others === 0 ? '' : ` ${others} more ${others === 1 ? 'difference' : 'differences'}.`;
      const text = `The invoice of ${providers} differs by more than ${rule.threshold}% for ${most.model} on ${most.day}: billed ${shownUsd(most.billed)}, recorded ${shownUsd(most.recorded)}.${rest}`;
      const remedy = { label: 'Show reconciliation', page: `/app/reconciliation?import=${encodeURIComponent(id)}` };
      return [foundAlert(rule, { event: ['reconciliation', id, importedAtMs], text, remedy, repeatMs: null }, nowMs)];
    }),
  );
}

function magnitude(amount: bigint): bigint {
  return amount < 0n ? -amount : amount;
}
