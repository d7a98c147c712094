/** Tests that the errors of hosts get their class by their body, and that none of ours is told as the caller's. */
import { expect, test } from 'bun:test';
import {
  AttemptFailure,
  classOf,
  failureOfErrorWords,
  failureOfRefusal,
  failureOfTranslatedError,
} from '../../../src/call/attempt/upstream-outcome.ts';
import { CLIENT_PROTOCOLS, UPSTREAM_PROTOCOLS } from '../../../src/protocols/registry.ts';
import { findPreset, PRESETS } from '../../../src/providers/presets/presets.ts';
import { findKind } from '../../../src/providers/registry.ts';
import { HOST_ERRORS, type HostError } from './host-errors.ts';

/** The failure for a client of the host's own format, and for one of another. */
function failuresOf({ preset, format: named, status, body }: HostError) {
  const kind = findPreset(preset)?.kind ?? findKind(preset);
  const format = named ?? kind?.protocols[0] ?? 'chat';
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  const error = UPSTREAM_PROTOCOLS[format].readError(bytes, []);
  return [
    failureOfRefusal(status, null, error, error.message, error.message),
    failureOfTranslatedError(status, null, error, error.message),
  ] as const;
}

const CALLERS: ReadonlySet<string> = new Set(['content', 'overflow', 'policy', 'ours']);

test.each(HOST_ERRORS.map((one) => [one.preset, one.status, one.failureClass, one] as const))(
  '%s %d is %s',
  (_preset, _status, failureClass, row) => {
    const [own, translated] = failuresOf(row);
    expect(classOf(own)).toBe(failureClass);
    // A signature is left out and sent again before another format's client is told.
    expect(classOf(translated)).toBe(failureClass === 'ours' ? 'content' : failureClass);
    for (const failure of [own, translated]) {
      if (row.pauseMs !== undefined) expect(failure).toMatchObject({ pauseMs: row.pauseMs });
      if (CALLERS.has(failureClass)) continue;
      const statuses = [CLIENT_PROTOCOLS.chat.statusOf(failure), CLIENT_PROTOCOLS.messages.statusOf(failure)];
      for (const status of statuses)
        expect(status === 429 ? failureClass : status >= 500).toBe(status === 429 ? 'rate' : true);
    }
  },
);

test('every preset of a host has an error in its own shape', () => {
  const listed = new Set(HOST_ERRORS.map(({ preset }) => preset));
  const missing = PRESETS.filter(({ name }) => !name.endsWith('-messages') && !listed.has(name));
  expect(missing.map(({ name }) => name)).toEqual([]);
});

test.each([
  ['rate_limit_exceeded', null, 'rate'],
  ['ThrottlingException', 400, 'rate'],
  ['throttlingException', 429, 'rate'],
  ['ServiceQuotaExceededException', 400, 'rate'],
  ['RESOURCE_EXHAUSTED', null, 'rate'],
  ['minimax_1002', 429, 'rate'],
  ['limit_burst_rate', null, 'rate'],
  ['Throttling.RateQuota', null, 'rate'],
  ['1302', null, 'rate'],
  ['overloaded_error', null, 'overloaded'],
  ['ModelNotReadyException', 429, 'overloaded'],
  ['tool_use_failed', 400, 'fault'],
  ['timeout_error', null, 'fault'],
  ['malformed', null, 'fault'],
  ['ExpiredTokenException', 403, 'credential'],
  ['ExpiredToken', 400, 'credential'],
  ['SignatureDoesNotMatch', 403, 'credential'],
  ['insufficient_quota', null, 'quota'],
  ['model_not_found', null, 'config'],
  ['context_length_exceeded', null, 'overflow'],
  ['content_filter', 400, 'policy'],
  ['content_policy_violation', 403, 'policy'],
  ['invalid_request_error', 400, 'content'],
] as const)('%s (%p) in a 200 is %s', (type, status, failureClass) => {
  const failure = failureOfErrorWords(type, status, 'words');
  expect(failure instanceof AttemptFailure ? failure.failureClass : null).toBe(failureClass);
});
