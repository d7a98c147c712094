/** Tests bedrock.ts: the facts of hosted models, the addresses that follow from settings, and the checks of its members. */
import { describe, expect, test } from 'bun:test';
import { Secret } from '../../lib/secret.ts';
import { type FakeMachine, FakeSurroundings } from '../credentials/testing/fake-surroundings.ts';
import type { Secrets, Settings } from '../provider.ts';
import { createBedrock } from './bedrock.ts';

const KEYS = { access_key_id: new Secret('AKIA1'), secret_access_key: new Secret('canary-1') };

test.each([
  ['anthropic.claude-opus-4-8', 'claude-opus-4-8', 1],
  ['us.anthropic.claude-sonnet-4-5-20250929-v1:0', 'claude-sonnet-4-5', 2],
  ['global.anthropic.claude-opus-4-6-v1', 'claude-opus-4-6', 2],
  ['arn:aws:bedrock:us-east-1:1:inference-profile/eu.anthropic.claude-haiku-4-5-20251001-v1:0', 'claude-haiku-4-5', 2],
])('%s has the facts of %s', (id, model, refusals) => {
  const found = createBedrock(new FakeSurroundings()).hostedModel?.(id, {});
  expect([found?.catalog, found?.refuses.length]).toEqual([{ provider: 'anthropic', model }, refusals]);
});

test('a model of another vendor has no facts of Claude', () => {
  expect(createBedrock(new FakeSurroundings()).hostedModel?.('amazon.nova-pro-v1:0', {})).toBeNull();
});

describe('the addresses', () => {
  const { kind } = { kind: createBedrock(new FakeSurroundings()) };

  test.each([
    [{ region: 'us-east-1' }, 'https://bedrock-runtime.us-east-1.amazonaws.com'],
    [{ region: 'us-gov-west-1', fips: 'on' }, 'https://bedrock-runtime-fips.us-gov-west-1.amazonaws.com'],
    [{ region: 'cn-north-1' }, 'https://bedrock-runtime.cn-north-1.amazonaws.com.cn'],
    [{ region: 'eusc-de-east-1' }, 'https://bedrock-runtime.eusc-de-east-1.amazonaws.eu'],
  ])('of %j is %s', (settings, address) => {
    expect(kind.addressOf?.(settings)).toBe(address);
  });

  test('a region is a word of AWS, and nothing else', () => {
    const region = kind.settings.find(({ name }) => name === 'region');
    const accepts = (text: string) => region?.pattern.test(text);
    expect(['us-east-1', 'ap-southeast-4', 'us-gov-west-1', 'eusc-de-east-1'].every((one) => accepts(one))).toBe(true);
    expect(
      ['evil.com/#', 'us-east-1.evil.com', 'us-east-1/', '', 'us_east_1', 'us-east-1\n'].some((one) => accepts(one)),
    ).toBe(false);
  });
});

describe('a region that is not given', () => {
  const config = (text: string) => ({ '/home/gw/.aws/config': text });
  const PROFILES =
    '[default]\nregion = eu-west-1\n[profile other]\nregion = us-west-2\n[profile none]\noutput = json\n';
  const find = (machine: FakeMachine, usesMachine = true) =>
    createBedrock(new FakeSurroundings(machine)).findSettings?.({ secrets: {}, source: 'chain' }, usesMachine);

  test.each<[FakeMachine, Settings]>([
    [
      { environment: { AWS_REGION: 'us-east-1', AWS_DEFAULT_REGION: 'us-east-2' }, files: config(PROFILES) },
      { region: 'us-east-1' },
    ],
    [{ environment: { AWS_DEFAULT_REGION: 'us-east-2' }, files: config(PROFILES) }, { region: 'us-east-2' }],
    [{ files: config(PROFILES) }, { region: 'eu-west-1' }],
    [{ environment: { AWS_PROFILE: 'other' }, files: config(PROFILES) }, { region: 'us-west-2' }],
    [{ environment: { AWS_PROFILE: 'none' }, files: config(PROFILES) }, {}],
    [{ environment: { AWS_PROFILE: 'gone' }, files: config(PROFILES) }, {}],
    [{ environment: { AWS_REGION: 'evil.com/#' } }, {}],
    [{}, {}],
  ])('with %j is %j', (machine, found) => {
    expect(find(machine)).toEqual(found);
    // The console never reads this machine.
    expect(find(machine, false)).toEqual({});
  });
});

describe('the configuration', () => {
  const { checkConfig } = createBedrock(new FakeSurroundings());
  const faults = (secrets: Secrets, settings: Settings = { region: 'us-east-1' }, source: string | null = null) =>
    checkConfig({ members: new Set(), preset: null, secrets, source, settings }).map(
      ({ member, found }) => `${member}: ${found}`,
    );

  test('is complete with keys, a bearer key or the chain', () => {
    expect(faults(KEYS)).toEqual([]);
    expect(faults({ ...KEYS, session_token: new Secret('t') })).toEqual([]);
    expect(faults({ api_key: new Secret('k') })).toEqual([]);
    expect(faults({}, { region: 'us-east-1' }, 'chain')).toEqual([]);
  });

  test('lacks what it needs', () => {
    expect(faults(KEYS, {})).toEqual(['region: no region']);
    expect(faults({})).toEqual(['credentials: no credential']);
    expect(faults({ access_key_id: KEYS.access_key_id })).toEqual(['access_key_id: access_key_id alone']);
    expect(faults({ session_token: KEYS.access_key_id })).toEqual(['session_token: session_token alone']);
    expect(faults({ ...KEYS, api_key: new Secret('k') })).toEqual(['api_key: api_key together with access_key_id']);
    expect(faults(KEYS, { region: 'us-east-1', guardrail_id: 'g' })).toEqual(['guardrail_id: guardrail_id alone']);
    expect(faults(KEYS, { region: 'us-east-1', door: 'mantle', latency: 'optimized' })).toEqual([
      'latency: latency with door: mantle',
    ]);
  });
});
