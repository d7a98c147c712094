/** Tests what the form of a guardrail accepts and sends. */
import { expect, test } from 'bun:test';
import { bodyOf, changesTo, checkText, type Detector, draftOf, faultsOf, newDraft, type Rule } from './guardrails.ts';

const DETECTORS: readonly Detector[] = [
  { name: 'jwt', check: 'secrets', title: 'Tokens', description: '' },
  { name: 'email', check: 'personal_data', title: 'Addresses', description: '' },
  { name: 'phone', check: 'personal_data', title: 'Numbers', description: '' },
];
const RULE: Rule = {
  ...{ id: 'grl_1', name: 'Service', workspace: 'red', check: 'hook', items: [], side: 'both', action: null },
  ...{ fails_open: true, receiver: 'https://guard.test', timeout_ms: 500, enabled: true },
  created_at: '2026-11-24T00:00:00.000Z',
};

test('a new rule on personal data needs nothing but its check, and has later detectors too', () => {
  const draft = newDraft('personal_data', DETECTORS, '');
  expect(faultsOf(draft, null)).toEqual({});
  const body = { name: 'Mask personal data', workspace: null, side: 'request', fails_open: false, action: 'mask' };
  expect(bodyOf(draft, DETECTORS)).toEqual({ ...body, items: [] } as never);
  expect(bodyOf({ ...draft, detectors: ['phone'] }, DETECTORS).items).toEqual(['phone']);
  expect(faultsOf({ ...draft, detectors: [] }, null)).toEqual({ items: 'Choose at least one.' });
});

test('terms are the lines that are not blank', () => {
  const draft = { ...newDraft('terms', DETECTORS, 'red'), terms: ' Falcon \r\n\n two words\n' };
  expect(bodyOf(draft, DETECTORS)).toMatchObject({
    name: 'Block terms',
    workspace: 'red',
    items: ['Falcon', 'two words'],
  });
  expect(Object.keys(faultsOf({ ...draft, terms: ' \n' }, null))).toEqual(['items']);
  expect(Object.keys(faultsOf({ ...draft, terms: 'x'.repeat(201) }, null))).toEqual(['items']);
  const many = Array.from({ length: 501 }, (_, nth) => `term ${nth}`).join('\n');
  expect(faultsOf({ ...draft, terms: many }, null)).toEqual({ items: 'Enter at most 500 terms; there are 501.' });
});

test('a changed hook keeps its address unless another one is entered', () => {
  const draft = draftOf(RULE, DETECTORS);
  expect(faultsOf(draft, RULE)).toEqual({});
  const body = { name: 'Service', workspace: 'red', side: 'both', fails_open: true, timeout_ms: 500 };
  expect(bodyOf(draft, DETECTORS)).toEqual(body as never);
  expect(bodyOf({ ...draft, url: ' https://a.test/x ' }, DETECTORS).url).toBe('https://a.test/x');
  expect(Object.keys(faultsOf({ ...draft, timeout: '99' }, RULE))).toEqual(['timeout_ms']);
  expect(Object.keys(faultsOf(newDraft('hook', DETECTORS, ''), null))).toEqual(['url']);
});

test('a row says how much of a check it has', () => {
  expect(checkText(RULE, DETECTORS)).toBe('Hook, guard.test');
  expect(checkText({ ...RULE, check: 'personal_data' }, DETECTORS)).toBe('Personal data');
  expect(checkText({ ...RULE, check: 'personal_data', items: ['email'] }, DETECTORS)).toBe('Personal data: 1 of 2');
  expect(checkText({ ...RULE, check: 'terms', items: ['a', 'b'] }, DETECTORS)).toBe('Terms: 2');
});

test('a change sends only what it changed, so that others keep theirs', () => {
  const rule: Rule = { ...RULE, check: 'personal_data', items: ['email'], action: 'mask', timeout_ms: null };
  const draft = draftOf(rule, DETECTORS);
  expect(changesTo(rule, draft, DETECTORS)).toEqual({});
  expect(changesTo(rule, { ...draft, side: 'answer' }, DETECTORS)).toEqual({ side: 'answer' });
  expect(changesTo(rule, { ...draft, detectors: ['email', 'phone'] }, DETECTORS)).toEqual({
    items: [],
    before: { items: ['email'] },
  });
  expect(changesTo(RULE, { ...draftOf(RULE, DETECTORS), url: 'https://b.test' }, DETECTORS)).toEqual({
    url: 'https://b.test',
  });
});
