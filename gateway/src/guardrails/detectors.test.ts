/** Tests what the detectors find and leave, and that hostile texts cost no more than their length. */
import { expect, test } from 'bun:test';
import { startCpuClock } from '../../test/harness/cpu-clock.ts';
import { sampleGuardrail } from '../store/contracts/guardrails-contract.ts';
import { DETECTORS, type DetectorName } from './detectors.ts';
import type { Match, Matcher } from './matcher.ts';
import { personalDataMatchers } from './personal-data.ts';
import { SecretMatcher } from './secret-formats.ts';
import { TermMatcher } from './terms.ts';
import { TextRules } from './text-rules.ts';

const NAMES = new Set<DetectorName>(DETECTORS.map(({ name }) => name));
const MATCHERS: readonly Matcher[] = [new SecretMatcher(NAMES), ...personalDataMatchers(NAMES)];

function find(text: string, matchers = MATCHERS): string[] {
  const found: Match[] = [];
  for (const matcher of matchers) matcher.find(text, 0, found);
  return found.map(({ start, end, name }) => `${name}: ${text.slice(start, end)}`);
}

test.each(DETECTORS.map(({ name, sample }) => [name, sample]))(
  '%s finds its sample anywhere in a text',
  (name, sample) => {
    // Of the address of a database, what its password is in.
    const whole = name === 'database_password' ? sample.slice(0, sample.indexOf('@') + 1) : sample;
    const escaped = [`{"log":"a\\n${sample}\\n"}`, `\\u003e${sample}\\u003c`, `\u001b[38;5;1m${sample}\u001b[m`];
    // These escapes may be a part of an e-mail address.
    if (name !== 'email') escaped.push(`q%3D${sample}`, `q=a%20${sample}`);
    for (const text of [sample, `see ${sample}, ok`, `x:"${sample}"\n`, `(${sample}).`, ...escaped]) {
      expect(find(text)).toContain(`${name}: ${whole}`);
    }
  },
);

test.each([
  'card 4111 1111 1111 1112',
  'order 1234567890123456',
  'IBAN DE89 3704 0044 0532 0130 01',
  'version 1.2.3 of 2026-11-28 at 12:30:45, and std::vector or a::b',
  '127.0.0.1 and 0.0.0.0 and ::1 and 300.1.1.1',
  '000-12-3456 and 666-12-3456 and 123-45-67890',
  'user@localhost and @handle and a@b.c',
  'task-sk-list, skills, sk-short and AKIA of AKIAIOSFODNN7EXAMPLES',
  'eyJ is how a token begins; -----BEGIN CERTIFICATE-----',
  'a call at 555-0132, extension 12',
])('finds nothing in: %s', (text) => {
  expect(find(text)).toEqual([]);
});

test('terms are whole words in any case, with any one space', () => {
  const terms = [new TermMatcher(['Project Falcon', 'C++', 'ÄRGER', 'falcon wing'])];
  expect(find('PROJECT\tfalcon, project falcons, xC++, c++! ärger Ärgernis falcon  wing', terms)).toEqual([
    'Project Falcon: PROJECT\tfalcon',
    'C++: c++',
    'ÄRGER: ärger',
  ]);
  expect(find('user%2Bada@example.com')).toEqual(['email: user%2Bada@example.com']);
  expect(find('{"a":"x\\nproject falcon"} C:\\falcon wing', terms)).toEqual([
    'Project Falcon: project falcon',
    'falcon wing: falcon wing',
  ]);
});

const RULE = sampleGuardrail('all', { check: 'secrets', items: [], side: 'both', action: 'mask' });

/** What each pattern begins or goes on with, over and over. */
const HOSTILE = [
  ...['a', '1', ' ', '-', '@', 'a@', 'a@b.', 'a.b@c.', '+1', '1 ', '1-', '1.', '::', 'a:', '123-45-', '(415) 555-'],
  ...['4111 1111 1111 1111 ', 'DE89 3704 ', 'sk-', 'AKIA', 'eyJ', 'eyJ-', 'eyJ.', 'tg_', 'SG.', 'hf_ ', 'xoxb-'],
  ...['AccountKey=', 'postgres://', 'postgres://a:', '-----BEGIN ', '-----BEGIN PRIVATE KEY-----', '[EMAIL_12345678]'],
  ...[`ya29.${'.'.repeat(4_000)}a `, `eyJaaaaa.eyJaaaaa${'.'.repeat(4_000)}a `, '[EMAIL_12345678] a@b.cc '],
];

test('a hostile text of 256 KiB is searched in bounded time, as is its end', () => {
  const lengthMin = 256 * 1024;
  const matchers = [...MATCHERS, new TermMatcher(['a'.repeat(200), 'a a a a a a b'])];
  const rules = new TextRules([{ rule: RULE, matchers }], Buffer.alloc(32));
  for (const unit of HOSTILE) {
    const text = unit.repeat(Math.ceil(lengthMin / unit.length));
    const elapsed = startCpuClock();
    rules.find(text, 0);
    rules.openFrom(text, 0);
    // 1 MiB takes four times as long.
    expect([unit, elapsed() < 1_500]).toEqual([unit, true]);
  }
}, 60_000);
