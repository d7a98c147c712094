/** Owns what caps have left at this moment, as pages show it. Takes nothing; of a budget that no call has met lately, the records tell. */
import { type BindingCaps, type BudgetState, layerOf, type Subject } from '../store/limits-port.ts';
import type { Reply } from './contract.ts';
import type { PolicyParts } from './policy-parts.ts';

export type ShownGauge = Reply<'GET /accounts/{account}/limits'>['nodes'][number]['gauges'][number];

/** What budgets have used and hold, by `nameOf` their subject. */
export type BudgetStates = ReadonlyMap<string, BudgetState>;

export function nameOf(subject: Subject): string {
  return `${layerOf(subject)} ${subject.kind} ${subject.id}`;
}

/** The state of each binding that has a budget. Those of one kind and window that are not known are read together. */
export async function readBudgetStates(
  { gate, spends }: Pick<PolicyParts, 'gate' | 'spends'>,
  bindings: readonly BindingCaps[],
): Promise<BudgetStates> {
  const states = new Map<string, BudgetState>();
  const unknown = new Map<string, BindingCaps[]>();
  for (const binding of bindings) {
    if (binding.caps.budget === null) continue;
    const state = await gate.desk.limits.store.readBudget(binding);
    if (state !== null) {
      states.set(nameOf(binding.subject), state);
      continue;
    }
    const group = `${binding.subject.kind} ${binding.windowStartMs} ${binding.windowEndMs}`;
    unknown.set(group, [...(unknown.get(group) ?? []), binding]);
  }
  await Promise.all(
    [...unknown.values()].map(async (group) => {
      const spent = await spends.readSpends(group);
      for (const { subject } of group) states.set(nameOf(subject), { settled: spent.get(subject.id) ?? 0n, held: 0n });
    }),
  );
  return states;
}

/** A gauge for each cap of the binding. */
export async function readGauges(
  { gate }: Pick<PolicyParts, 'gate'>,
  binding: BindingCaps,
  states: BudgetStates,
  nowMs: number,
): Promise<ShownGauge[]> {
  const { caps, windowEndMs } = binding;
  const subject = showSubject(binding.subject);
  const layer = layerOf(binding.subject);
  const use = await gate.desk.limits.store.readUse(binding, nowMs);
  const gauges: ShownGauge[] = [];
  const add = (sort: ShownGauge['sort'], limit: number | null, used: number, wholeAtMs: number | null) => {
    if (limit === null) return;
    const resets_at = wholeAtMs === null ? null : showTime(wholeAtMs);
    gauges.push({ subject, layer, sort, limit: String(limit), used: String(used), held: '0', window: null, resets_at });
  };
  add('rpm', caps.requestsPerMinute, use.requests?.used ?? 0, use.requests?.wholeAtMs ?? null);
  add('tpm', caps.tokensPerMinute, use.tokens?.used ?? 0, use.tokens?.wholeAtMs ?? null);
  add('concurrency', caps.concurrency, use.running ?? 0, null);
  if (caps.budget !== null) {
    const state = states.get(nameOf(binding.subject)) ?? { settled: 0n, held: 0n };
    gauges.push({
      subject,
      layer,
      sort: 'budget',
      limit: caps.budget.amount.toString(),
      used: state.settled.toString(),
      held: state.held.toString(),
      window: caps.budget.window,
      resets_at: windowEndMs === null ? null : showTime(windowEndMs),
    });
  }
  return gauges;
}

/** An end user without the account that is before his name in a subject's id. */
export function showSubject({ kind, id }: Subject): Subject {
  return kind === 'end_user' ? { kind, id: id.slice(id.indexOf('/') + 1) } : { kind, id };
}

export function showTime(timeMs: number): string {
  return new Date(timeMs).toISOString();
}
