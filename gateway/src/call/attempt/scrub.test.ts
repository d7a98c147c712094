/** Tests scrub.ts: the operator's secrets are removed, everything else is unchanged byte for byte. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { Secret } from '../../lib/secret.ts';
import { scrub, scrubText } from './scrub.ts';

const secret = new Secret('lab-credential-123');
const scrubbed = (text: string) => scrub(Buffer.from(text), [secret, new Secret('the-second-secret')]).toString();

describe('scrub', () => {
  test.each([
    ['our own credential', 'key lab-credential-123.', 'key [redacted].'],
    ['each of several secrets', 'a lab-credential-123 b the-second-secret', 'a [redacted] b [redacted]'],
    ['it in several places', 'lab-credential-123 lab-credential-123', '[redacted] [redacted]'],
    [
      'keys of providers',
      'sk-proj-abcDEF123456_x gsk_abcdefghijkl12 xai-abcdefghijkl',
      '[redacted] [redacted] [redacted]',
    ],
    ['a masked key', 'Incorrect API key: sk-ab********wxyz', 'Incorrect API key: sk-ab********wxyz'],
    ['organisations and projects', 'org-Ab12Cd34Ef in proj_9x8y7z6w5v', '[redacted] in [redacted]'],
    [
      'accounts at Amazon',
      'arn:aws:bedrock:us-east-1:123456789012:model/x AKIAIOSFODNN7EXAMPLE ASIAIOSFODNN7EXAMPLE',
      '[redacted] [redacted] [redacted]',
    ],
  ])('takes out %s', (_, text, wanted) => {
    expect(scrubbed(text)).toBe(wanted);
  });

  test.each([
    'user_preferences is unknown',
    'project_identifier',
    'task-oriented-prompting',
    'org-wide',
    'user_id: 5',
    'risk-based-approach',
  ])('leaves plain words: %s', (text) => {
    expect(scrubbed(text)).toBe(text);
  });

  test('returns the same bytes if there is nothing to hide', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        const given = Buffer.from(bytes);
        const found = scrub(given, [secret]);
        if (!found.includes('[redacted]')) expect(found).toBe(given);
      }),
    );
  });

  test('removes the credential in any surroundings', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (before, after) => {
        expect(scrubbed(`${before}${secret.reveal()}${after}`)).not.toContain(secret.reveal());
      }),
    );
  });

  test('works without a credential and ignores a short one', () => {
    expect(scrub(Buffer.from('abc'), []).toString()).toBe('abc');
    expect(scrub(Buffer.from('abc'), [new Secret('b')]).toString()).toBe('abc');
  });
});

describe('scrubText', () => {
  test('has at most 500 characters, and no control character that could forge a line of a log', () => {
    const text = scrubText(`a\r\nb\u001b[31m${'x'.repeat(1_000)}`, []);
    expect(text).toHaveLength(500);
    expect(text).toStartWith('a  b [31m');
  });

  test('scrubs before it cuts', () => {
    expect(scrubText(`${'x'.repeat(490)}${secret.reveal()}`, [secret])).not.toContain('lab-cred');
  });
});
