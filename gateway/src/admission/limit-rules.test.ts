/** Tests limit-rules.ts: which rules apply to a call, in which window, and that a change applies to the next call. */
import { expect, test } from 'bun:test';
import { type CallSubjects, type Caps, EVERY_END_USER, endUserSubject, type Subject } from '../store/ports/limits.ts';
import { createLimitRules, type LimitRules } from './limit-rules.ts';

const NOW_MS = Date.parse('2026-11-20T12:00Z');
const CALL: CallSubjects = { keyId: 'k1', workspaceId: 'w1', accountId: 'acme', endUser: 'bob', models: ['m1'] };
const rpm = (requestsPerMinute: number): Caps => ({
  requestsPerMinute,
  tokensPerMinute: null,
  concurrency: null,
  budget: null,
});
const daily: Caps = { ...rpm(1), requestsPerMinute: null, budget: { window: 'day', amount: 5n } };
const key: Subject = { kind: 'key', id: 'k1' };

const rulesOf = (...stored: readonly (readonly [Subject, Caps])[]): LimitRules =>
  createLimitRules(stored.map(([subject, caps]) => ({ subject, caps })));

const boundBy = (rules: LimitRules, call: Partial<CallSubjects> = {}): string[] =>
  rules
    .bindingCapsOf({ ...CALL, ...call }, () => 'UTC', NOW_MS)
    .map(({ subject, caps }) => `${subject.kind} ${subject.id} ${caps.requestsPerMinute}`);

test('exactly the matching rules bind a call', () => {
  const rules = rulesOf(
    [key, rpm(1)],
    [{ kind: 'workspace', id: 'w1' }, rpm(2)],
    [{ kind: 'account', id: 'acme' }, rpm(3)],
    [{ kind: 'model', id: 'm1' }, rpm(4)],
    [endUserSubject('acme', 'bob'), rpm(5)],
    [{ kind: 'key', id: 'w1' }, rpm(6)],
    [endUserSubject('other', 'bob'), rpm(7)],
  );
  expect(boundBy(rules)).toEqual(['key k1 1', 'end_user acme/bob 5', 'workspace w1 2', 'account acme 3', 'model m1 4']);
  expect(boundBy(rules, { endUser: null, models: ['m2'] })).toEqual(['key k1 1', 'workspace w1 2', 'account acme 3']);
});

test('an end user without a rule gets the default rule, each with a count of their own', () => {
  const rules = rulesOf([endUserSubject('acme', EVERY_END_USER), rpm(9)], [endUserSubject('acme', 'bob'), rpm(5)]);
  expect(boundBy(rules)).toEqual(['end_user acme/bob 5']);
  expect(boundBy(rules, { endUser: 'eve' })).toEqual(['end_user acme/eve 9']);
  expect(boundBy(rules, { endUser: 'eve', accountId: 'other' })).toEqual([]);
  expect(boundBy(rules, { endUser: null })).toEqual(['end_user acme/ 9']);
});

test('a rule under any name of a model binds it separately', () => {
  const rules = rulesOf([{ kind: 'model', id: 'm1' }, rpm(1)], [{ kind: 'model', id: 'alias' }, rpm(2)]);
  expect(boundBy(rules, { models: ['m1', 'alias', 'other'] })).toEqual(['model m1 1', 'model alias 2']);
  expect(boundBy(rules, { models: ['other', 'alias'] })).toEqual(['model alias 2']);
  expect(boundBy(rules, { models: [] })).toEqual([]);
});

test('a changed rule binds the next call', () => {
  const rules = rulesOf([key, rpm(1)]);
  expect(boundBy(rules)).toEqual(['key k1 1']);
  rules.put(key, rpm(2));
  expect(boundBy(rules)).toEqual(['key k1 2']);
  expect(rules.get(key)).toEqual(rpm(2));
  rules.put(key, null);
  expect(boundBy(rules)).toEqual([]);
  expect(rules.get(key)).toBeNull();
});

test('a new or changed budget is reported, other changes are not', () => {
  const reports: string[] = [];
  const rules = createLimitRules([{ subject: key, caps: rpm(1) }], {
    onNewBudget: ({ id }) => reports.push(`new of ${id}`),
    onNewAmount: ({ id }, amount) => reports.push(`${amount} of ${id}`),
  });
  const alertsOf = (caps: Caps | null): string[] => {
    rules.put(key, caps);
    return reports.splice(0);
  };
  expect(alertsOf(rpm(2))).toEqual([]);
  expect(alertsOf(daily)).toEqual(['new of k1']);
  expect(alertsOf({ ...daily, requestsPerMinute: 3 })).toEqual([]);
  expect(alertsOf({ ...daily, budget: { window: 'day', amount: 9n } })).toEqual(['9 of k1']);
  expect(alertsOf({ ...daily, budget: { window: 'week', amount: 9n } })).toEqual(['new of k1']);
  expect(alertsOf(null)).toEqual([]);
  expect(alertsOf({ ...daily, budget: { window: 'week', amount: 9n } })).toEqual(['new of k1']);
});

test('an end user who loses a rule of their own without a budget has the budget of every end user as a new one', () => {
  const reports: string[] = [];
  const [bob, everyone] = [endUserSubject('acme', 'bob'), endUserSubject('acme', EVERY_END_USER)];
  const rules = createLimitRules([{ subject: everyone, caps: daily }], {
    onNewBudget: ({ id }) => reports.push(`new of ${id}`),
    onNewAmount: ({ id }, amount) => reports.push(`${amount} of ${id}`),
  });
  const reportsOf = (caps: Caps | null): string[] => {
    rules.put(bob, caps);
    return reports.splice(0);
  };
  expect(reportsOf(rpm(2))).toEqual([]);
  expect(reportsOf(null)).toEqual(['new of acme/bob']);
  expect(reportsOf({ ...daily, budget: { window: 'day', amount: 9n } })).toEqual(['9 of acme/bob']);
  expect(reportsOf(null)).toEqual(['5 of acme/bob']);
});

test('windows are those of the account’s time zone; a model’s are in UTC', () => {
  const rules = rulesOf([key, daily], [{ kind: 'model', id: 'm1' }, daily]);
  const starts = (timeZone: string, nowMs = NOW_MS) =>
    rules
      .bindingCapsOf(CALL, (account) => (account === 'acme' ? timeZone : 'UTC'), nowMs)
      .map(({ windowStartMs }) => new Date(windowStartMs).toISOString().slice(0, 16));
  expect(starts('Asia/Kolkata')).toEqual(['2026-11-19T18:30', '2026-11-20T00:00']);
  expect(starts('America/New_York')).toEqual(['2026-11-20T05:00', '2026-11-20T00:00']);
  expect(starts('America/New_York', NOW_MS + 86_400_000)).toEqual(['2026-11-21T05:00', '2026-11-21T00:00']);
});

test('calls of the same window share their bindings', () => {
  const rules = rulesOf([key, daily]);
  const bindingAt = (nowMs: number) => rules.bindingCapsOf(CALL, () => 'UTC', nowMs)[0];
  expect(bindingAt(NOW_MS + 1)).toBe(bindingAt(NOW_MS));
  expect(bindingAt(NOW_MS - 86_400_000)?.windowEndMs).toBe(Date.parse('2026-11-20'));
});

test.each([
  [rpm(0), 'requestsPerMinute of key k1: found 0'],
  [rpm(1.5), 'requestsPerMinute of key k1: found 1.5'],
  [{ ...rpm(1), tokensPerMinute: 1_000_000_001 }, 'tokensPerMinute of key k1: found 1000000001'],
  [{ ...rpm(1), concurrency: Number.NaN }, 'concurrency of key k1: found NaN'],
  [{ ...rpm(1), budget: { window: 'day', amount: -1n } }, 'budget of key k1: found -1'],
] as const)('%p is no rule', (caps, words) => {
  const rules = rulesOf([key, rpm(3)]);
  expect(() => rules.put(key, caps)).toThrow(words);
  expect(rules.get(key)).toEqual(rpm(3));
});

test('the rules of both layers bind side by side; an own rule of an end user does not replace the operator’s of every end user', () => {
  const own = (subject: Subject): Subject => ({ ...subject, layer: 'account' });
  const rules = rulesOf(
    [{ kind: 'account', id: 'acme' }, rpm(5)],
    [own({ kind: 'account', id: 'acme' }), rpm(900)],
    [endUserSubject('acme', EVERY_END_USER), rpm(9)],
    [own(endUserSubject('acme', 'bob')), rpm(800)],
  );
  expect(boundBy(rules)).toEqual([
    'end_user acme/bob 9',
    'end_user acme/bob 800',
    'account acme 5',
    'account acme 900',
  ]);
  rules.put(own({ kind: 'account', id: 'acme' }), null);
  rules.put(own(endUserSubject('acme', 'bob')), null);
  expect(boundBy(rules)).toEqual(['end_user acme/bob 9', 'account acme 5']);
});
