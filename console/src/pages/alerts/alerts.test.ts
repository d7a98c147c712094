/** Tests what the form of an alert accepts and sends. */
import { expect, test } from 'bun:test';
import { type AlertDraft, bodyOf, changesTo, draftOf, faultsOf, newDraft, type Rule, ruleText } from './alerts.ts';

const RULE: Rule = {
  id: 'alr_1',
  name: 'Low',
  event: 'balance',
  threshold: '1500000000',
  channel: 'slack',
  receiver: 'https://hooks.slack.com',
  renotify_hours: 6,
  quiet: { from: '22:00', to: '07:00' },
  muted_until: null,
  created_at: '2026-11-24T00:00:00.000Z',
  last: null,
};

test('a new alert needs nothing but its event', () => {
  const draft = newDraft('budget');
  expect(faultsOf(draft, null)).toEqual({});
  const none = { quiet: null, renotify_hours: null };
  expect(bodyOf(draft, null)).toEqual({
    name: 'Budget used: 80%',
    threshold: '80',
    channel: 'inbox',
    url: null,
    ...none,
  });
});

test('a rule that was not changed sends what it has, and keeps its address', () => {
  expect(faultsOf(draftOf(RULE), RULE)).toEqual({});
  const { name, threshold, quiet, renotify_hours } = RULE;
  expect(bodyOf(draftOf(RULE), RULE)).toEqual({ name, threshold, quiet, renotify_hours });
  const elsewhere = bodyOf({ ...draftOf(RULE), url: 'https://b.test' }, RULE);
  expect(elsewhere).toMatchObject({ channel: 'slack', url: 'https://b.test' });
  expect(ruleText(RULE)).toBe('Low balance: below $1.50');
});

test('each fault is named', () => {
  const draft: AlertDraft = {
    ...newDraft('budget'),
    threshold: '0',
    channel: 'webhook',
    quietFrom: '22:00',
    renotify: '1.5',
  };
  expect(Object.keys(faultsOf(draft, null))).toEqual(['threshold', 'url', 'quiet', 'renotify_hours']);
  for (const threshold of ['', '101', '8.5', 'x'])
    expect(faultsOf({ ...newDraft('budget'), threshold }, null)).toHaveProperty('threshold');
  for (const threshold of ['0', '-1', '1e3', '1.0000000001'])
    expect(faultsOf({ ...newDraft('balance'), threshold }, null)).toHaveProperty('threshold');
});

test('the recipients of email are split, counted and kept', () => {
  const draft: AlertDraft = { ...newDraft('budget'), channel: 'email', to: ' ada@a.test, bob@b.test\n' };
  expect(faultsOf(draft, null)).toEqual({});
  const to = ['ada@a.test', 'bob@b.test'];
  expect(bodyOf(draft, null)).toMatchObject({ channel: 'email', url: null, to });
  for (const bad of ['', 'ada', Array.from({ length: 11 }, (_, nth) => `p${nth}@a.test`).join()])
    expect(faultsOf({ ...draft, to: bad }, null)).toHaveProperty('to');
  const rule: Rule = { ...RULE, channel: 'email', receiver: to.join(', ') };
  expect(bodyOf(draftOf(rule), rule)).not.toHaveProperty('channel');
  expect(bodyOf({ ...draftOf(rule), to: 'ada@a.test' }, rule)).toMatchObject({ channel: 'email', to: ['ada@a.test'] });
});

test('a change sends only what it changed, so that others keep theirs', () => {
  const draft = draftOf(RULE);
  expect(changesTo(RULE, draft)).toEqual({});
  expect(changesTo(RULE, { ...draft, threshold: '2' })).toEqual({ threshold: '2000000000' });
  expect(changesTo(RULE, { ...draft, quietFrom: '', quietTo: '' })).toEqual({ quiet: null });
  expect(changesTo(RULE, { ...draft, url: 'https://b.test' })).toEqual({
    channel: 'slack',
    url: 'https://b.test',
    before: { receiver: 'https://hooks.slack.com' },
  });
});
