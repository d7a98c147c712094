/** Tests the sentences about states of targets and credentials. */
import { describe, expect, test } from 'bun:test';
import {
  type CredentialState,
  explainCredential,
  explainTarget,
  sortTargets,
  type TargetState,
  targetFacts,
  targetLabel,
  targetsPausedBy,
  untilText,
} from './routing-states.ts';
import { attemptText, failureText, verdictText } from './routing-words.ts';

const UNTIL = '2026-11-23T11:02:07.400Z';
const target = (changes: Partial<TargetState>): TargetState => ({
  model: 'claude-sonnet',
  target: 'main',
  provider: 'anthropic',
  upstream_model: 'claude-sonnet-4-6',
  state: 'closed',
  until: null,
  why: null,
  faults: 0,
  outcomes: 20,
  trips: 0,
  share: 1,
  open_calls: 0,
  overdue_calls: 0,
  retries_left: 10,
  latency_ms: null,
  ...changes,
});
const credential = (changes: Partial<CredentialState>): CredentialState => ({
  provider: 'anthropic',
  name: 'main',
  state: 'usable',
  why: null,
  until: null,
  open_calls: 0,
  cooling: [],
  headroom: [],
  ...changes,
});
const COOLING = [{ upstream_model: 'claude-sonnet-4-6', until: UNTIL, is_guess: false }];

test('an end is a clock time within a day, otherwise a date', () => {
  const nowMs = Date.parse('2026-11-23T11:00:00Z');
  expect(untilText(UNTIL, 'UTC', nowMs)).toBe('11:02:07');
  expect(untilText(UNTIL, 'UTC', nowMs - 2 * 86_400_000)).toBe('Nov 23, 2026, 11:02:07');
});

describe('a target', () => {
  test.each([
    [{}, 'Healthy', null],
    [{ outcomes: 0 }, 'Idle', null],
    [{ share: 0.4 }, 'Recovering', 'Recovering: takes 40% of its usual requests.'],
    [{ state: 'open', why: 'overloaded' }, 'Paused after failures', 'Last failure: provider overloaded.'],
    [{ state: 'half_open' }, 'Next request probes', 'One request at a time until one succeeds.'],
    [{ state: 'benched', why: 'config' }, 'Unknown model or address', 'doesn’t know the model or address.'],
    [{ state: 'out' }, 'Out of rotation', 'Removed from rotation by an operator.'],
  ] as const)('%j is %s', (changes, label, sentence) => {
    const one = target(changes);
    expect(targetLabel(one)[0]).toBe(label);
    if (sentence === null) expect(explainTarget(one, 'UTC')).toBeNull();
    else expect(explainTarget(one, 'UTC')).toContain(sentence);
  });

  test('says when it is probed', () => {
    const until = new Date(Date.now() + 5_000).toISOString();
    expect(explainTarget(target({ state: 'open', until }), 'UTC')).toBe(
      `No requests until ${untilText(until, 'UTC')}, then one request probes it.`,
    );
  });

  test('lists what was counted', () => {
    expect(targetFacts(target({ faults: 5, open_calls: 3, overdue_calls: 1, latency_ms: 420 }))).toEqual([
      '5 of the last 20 failed',
      '3 open requests, 1 overdue',
      'First token about 420 ms',
    ]);
    expect(targetFacts(target({ outcomes: 0 }))).toEqual([]);
  });

  test('comes first if it is not closed', () => {
    const all = [target({ target: 'a' }), target({ target: 'b', share: 0.5 }), target({ target: 'c', state: 'open' })];
    expect(sortTargets(all).map((one) => one.target)).toEqual(['c', 'b', 'a']);
  });
});

describe('a credential', () => {
  test('names the models that it pauses for, or why it is not in use', () => {
    const at = untilText(UNTIL, 'UTC');
    const name = 'claude-sonnet-4-6';
    expect(explainCredential(credential({ state: 'cooling', cooling: COOLING }), 'UTC')).toBe(
      `Paused for ${name} until ${at}.`,
    );
    const guessed = [{ upstream_model: name, until: UNTIL, is_guess: true }];
    expect(explainCredential(credential({ state: 'cooling', cooling: guessed }), 'UTC')).toContain(`about ${at}`);
    const benched = { state: 'benched', until: UNTIL } as const;
    expect(explainCredential(credential({ ...benched, why: 'quota' }), 'UTC')).toContain('quota at the provider');
    expect(explainCredential(credential({ ...benched, why: 'credential' }), 'UTC')).toContain('provider rejects it');
    expect(explainCredential(credential({}), 'UTC')).toBeNull();
  });

  test('is resumed through targets of its provider, never through one out of rotation', () => {
    const all = [
      target({ target: 'out', state: 'out' }),
      target({ target: 'elsewhere', provider: 'bedrock' }),
      target({ target: 'opus', upstream_model: 'claude-opus' }),
      target({ target: 'sonnet' }),
    ];
    const names = (changes: Partial<CredentialState>) =>
      targetsPausedBy(credential(changes), all).map((one) => one.target);
    expect(names({ state: 'cooling', cooling: COOLING })).toEqual(['sonnet']);
    expect(names({ state: 'benched' })).toEqual(['opus']);
    expect(names({})).toEqual([]);
  });
});

test('an unknown code is shown as words', () => {
  expect(failureText('new_class')).toBe('New class');
  expect(attemptText('new_reason')).toBe('New reason');
  expect(verdictText('skipped', 'new_state')).toBe('New state');
  expect([attemptText('order'), attemptText(undefined)]).toEqual([null, null]);
});
