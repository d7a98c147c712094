/** Collects the findings of a comparison: each by itself up to a number for each day, model and cause, the others summed. */
import type { Cause, Finding } from '../store/ports/books/reconciliation.ts';
import { attemptModelKey } from './model-names.ts';
import type { OwnAttempt } from './own-attempts.ts';

const NAMED_MAX = 20;

export interface Findings {
  add(finding: Omit<Finding, 'requestId' | 'attempt' | 'providerRequestId' | 'count'> & Partial<Finding>): void;
  /** A finding about an attempt of ours. */
  addOf(own: OwnAttempt, cause: Cause, amount: bigint, detail: string, more?: Partial<Finding>): void;
  list(): readonly Finding[];
  /** The sum of the findings of a day and model. */
  explained(day: string, modelKey: string): bigint;
}

export function createFindings(): Findings {
  const named = new Map<string, Finding[]>();
  const others = new Map<string, Finding>();
  const sums = new Map<string, bigint>();
  const add: Findings['add'] = (given) => {
    const finding: Finding = { requestId: null, attempt: null, providerRequestId: null, count: 1, ...given };
    const place = JSON.stringify([finding.day, finding.model, finding.cause]);
    const day = `${finding.day} ${attemptModelKey(finding.model)}`;
    sums.set(day, (sums.get(day) ?? 0n) + finding.amount);
    const list = named.get(place) ?? [];
    named.set(place, list);
    if (list.length < NAMED_MAX) {
      list.push(finding);
      return;
    }
    const sum = others.get(place);
    const count = (sum?.count ?? 0) + finding.count;
    const detail = `${count} more of the same cause`;
    const amount = (sum?.amount ?? 0n) + finding.amount;
    others.set(place, { ...finding, requestId: null, attempt: null, providerRequestId: null, count, amount, detail });
  };
  return {
    add,
    addOf(own, cause, amount, detail, more = {}) {
      const { day, model, requestId, attempt, upstreamRequestId: providerRequestId } = own;
      add({ day, model, requestId, attempt, providerRequestId, cause, amount, detail, ...more });
    },
    explained: (day, modelKey) => sums.get(`${day} ${modelKey}`) ?? 0n,
    list: () =>
      [...named].flatMap(([place, list]) => [...list, ...(others.has(place) ? [others.get(place)] : [])]) as Finding[],
  };
}
