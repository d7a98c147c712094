/** Tests the permissions of an authenticated caller. */
import { describe, expect, test } from 'bun:test';
import { parseIpRange } from '../lib/ip-range.ts';
import {
  type AccessRequest,
  authorize,
  compileModelPatterns,
  mayUseModel,
  newKeyUse,
  type Principal,
} from './principal.ts';

interface Rights {
  readonly scopes?: Principal['scopes'];
  readonly ips?: readonly string[];
  readonly models?: readonly string[];
  readonly workspaceModels?: readonly string[];
}

function principal({ scopes, ips, models, workspaceModels }: Rights): Principal {
  return {
    keyId: 'key_1',
    keyName: 'first',
    accountId: 'default',
    account: {
      id: 'default',
      name: 'Default',
      mode: 'postpaid',
      markUpPpm: 0,
      timeZone: 'UTC',
      holds: null,
      createdAtMs: 0,
    },
    workspaceId: 'default',
    scopes: scopes ?? ['inference'],
    strict: false,
    holds: null,
    ranges: ips?.map(parseIpRange) ?? null,
    use: newKeyUse(),
    keyModels: models ?? null,
    workspaceModels: workspaceModels ?? null,
    keyAllows: compileModelPatterns(models ?? null),
    workspaceAllows: compileModelPatterns(workspaceModels ?? null),
    requiredTags: [],
    bodies: null,
    cache: null,
  };
}

const REQUEST: AccessRequest = { scope: 'inference', address: '192.0.2.7', modelNames: ['gpt-5-mini'] };

describe('authorize', () => {
  test('allows everything to a key without restrictions', () =>
    expect(authorize(principal({}), REQUEST)).toBe('allowed'));

  test('requires the scope among those of the key', () => {
    expect(authorize(principal({ scopes: ['usage', 'admin'] }), REQUEST)).toBe('scope');
    expect(authorize(principal({ scopes: ['usage', 'inference'] }), REQUEST)).toBe('allowed');
  });

  test('requires the address in one of the ranges', () => {
    const limited = principal({ ips: ['10.0.0.0/8', '192.0.2.0/24', '2001:db8::/32'] });
    const from = (address: string | null) => authorize(limited, { ...REQUEST, address });
    expect(['192.0.2.255', '::ffff:10.9.9.9', '2001:db8::1'].map(from)).toEqual(['allowed', 'allowed', 'allowed']);
    expect(['192.0.3.0', '::1', 'unix', '', null].map(from)).toEqual([
      'address',
      'address',
      'address',
      'address',
      'address',
    ]);
  });

  test('requires the model to be allowed by the key and by the workspace', () => {
    const both = { models: ['gpt-*', 'claude-x'], workspaceModels: ['*-mini', 'claude-x'] };
    const wants = (...modelNames: string[]) => authorize(principal(both), { ...REQUEST, modelNames });
    expect([wants('gpt-5-mini'), wants('claude-x')]).toEqual(['allowed', 'allowed']);
    expect([wants('gpt-5'), wants('o4-mini'), wants('demo')]).toEqual(['model', 'model', 'model']);
  });

  test('allows a model by any of its names', () => {
    const limited = principal({ models: ['claude-public'], workspaceModels: ['public-*'] });
    expect(mayUseModel(limited, ['public-model', 'claude-public'])).toBe(true);
    expect(mayUseModel(limited, ['public-model'])).toBe(false);
  });

  test('checks no model if none is requested', () => {
    expect(authorize(principal({ models: [] }), { ...REQUEST, modelNames: null })).toBe('allowed');
    expect(authorize(principal({ models: [] }), REQUEST)).toBe('model');
  });
});
