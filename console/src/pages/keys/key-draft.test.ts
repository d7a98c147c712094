/** Tests the body sent for a completed key form, and that every preset can be sent. */
import { describe, expect, test } from 'bun:test';
import { applyPreset, KEY_PRESETS } from './create-key.tsx';
import type { Key } from './key.ts';
import { draftCopy, draftOf, emptyDraft, readDraft } from './key-draft.ts';

const NOW_MS = Date.parse('2026-11-22T10:00:00.000Z');
const ZONE = 'America/New_York';
const KEY: Key = {
  id: 'key_1',
  name: 'billing-api',
  last4: 'x9Qa',
  workspace: 'default',
  owner: null,
  models: ['gpt-5*'],
  ips: ['10.0.0.0/8', '::1'],
  scopes: ['inference', 'usage'],
  strict: true,
  tags: { team: 'web', env: 'prod' },
  caps: { rpm: 60, tpm: null, concurrency: 4, budget_usd: '12.50', budget_window: 'day' },
  status: 'active',
  disabled_by: null,
  created_at: '2026-11-01T00:00:00.000Z',
  expires_at: '2027-01-02T03:04:05.678Z',
  rotation: null,
  last_used: null,
  budget: null,
  week_nano_usd: ['0', '0', '0', '0', '0', '0', '0'],
  week_requests: [0, 0, 0, 0, 0, 0, 0],
};

describe('key draft', () => {
  test('sends an unchanged key unchanged, its expiry to the millisecond', () => {
    expect(readDraft(draftOf(KEY, ZONE), NOW_MS, ZONE, KEY.expires_at)).toEqual({
      value: {
        name: 'billing-api',
        workspace: 'default',
        models: ['gpt-5*'],
        ips: ['10.0.0.0/8', '::1'],
        scopes: ['inference', 'usage'],
        strict: true,
        tags: { team: 'web', env: 'prod' },
        caps: KEY.caps,
        expires_at: '2027-01-02T03:04:05.678Z',
      },
    });
  });

  test('allows other changes of an expired key', () => {
    const expired = { ...KEY, expires_at: '2026-01-01T00:00:00.000Z' };
    expect(readDraft({ ...draftOf(expired, ZONE), name: 'x' }, NOW_MS, ZONE, expired.expires_at)).toMatchObject({
      value: { name: 'x', expires_at: expired.expires_at },
    });
  });

  test('a copy has another name and no past expiry', () => {
    expect(draftCopy(KEY, NOW_MS, ZONE)).toMatchObject({ name: 'billing-api copy', expiry: 'at' });
    expect(draftCopy({ ...KEY, expires_at: '2026-01-01T00:00:00.000Z' }, NOW_MS, ZONE)).toMatchObject({
      expiry: 'never',
    });
    expect(draftCopy({ ...KEY, name: 'n'.repeat(128) }, NOW_MS, ZONE).name).toHaveLength(128);
  });

  test('counts days from when it is sent', () => {
    const draft = { ...emptyDraft('default'), name: 'trial', expiry: '7d' as const };
    expect(readDraft(draft, NOW_MS, ZONE)).toMatchObject({ value: { expires_at: '2026-11-29T10:00:00.000Z' } });
  });

  test('interprets date and time in the zone', () => {
    const draft = { ...emptyDraft('default'), name: 'trial', expiry: 'at' as const, expiresAt: '2026-12-01T00:00' };
    expect(readDraft(draft, NOW_MS, ZONE)).toMatchObject({ value: { expires_at: '2026-12-01T05:00:00.000Z' } });
    expect(draftOf(KEY, ZONE).expiresAt).toBe('2027-01-01T22:04');
  });

  test('reports all errors at once', () => {
    const read = readDraft(
      {
        ...emptyDraft(''),
        models: { restricted: true, text: '' },
        scopes: [],
        expiry: 'at',
        expiresAt: '2026-01-01T00:00',
        caps: { rpm: 'many', tpm: '', concurrency: '', budget: '', window: 'day' },
      },
      NOW_MS,
      ZONE,
    );
    expect('faults' in read && Object.keys(read.faults).sort()).toEqual([
      'caps.rpm',
      'expires_at',
      'models',
      'name',
      'scopes',
      'workspace',
    ]);
  });

  test.each(KEY_PRESETS)('the preset $name is valid', (preset) => {
    const draft = applyPreset({ ...emptyDraft('default'), name: 'k', models: { restricted: true, text: 'a' } }, preset);
    expect(readDraft(draft, NOW_MS, ZONE)).toMatchObject({ value: { name: 'k', models: ['a'] } });
  });
});
