/**
 * Tests keys bound to IP addresses: the connection's own address, and the forwarded one from a trusted proxy. Contract
 * 2 and 5.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Pair, type SharedPair, startPair } from '../harness/start-pair.ts';
import { get, goodBody, post, type Side } from './calls.ts';
import { contractConfig, scriptContractModels, shareContractPair } from './contract-config.ts';
import { expectRefusal } from './expect-refusal.ts';
import { createKey } from './make-key.ts';

const SIDES: readonly Side[] = ['chat', 'messages'];
const FORBIDDEN = { status: 403, type: 'permission_error', code: 'forbidden', says: 'address' };

let direct: SharedPair;
let proxied: Pair;
let keys: Readonly<Record<'here' | 'elsewhere' | 'office', string>>;
let officeKey: string;

beforeAll(async () => {
  [direct, proxied] = await Promise.all([
    shareContractPair(),
    startPair((url) => contractConfig(url, { server: { trusted_proxies: ['127.0.0.0/8', '10.0.0.0/8'] } })),
  ]);
  scriptContractModels(proxied.fake);
  const [here, elsewhere, office, proxiedOffice] = await Promise.all([
    createKey(direct.gateway, { ips: ['127.0.0.0/8', '::1'] }),
    createKey(direct.gateway, { ips: ['192.0.2.0/24'] }),
    createKey(direct.gateway, { ips: ['192.0.2.7'] }),
    createKey(proxied.gateway, { ips: ['192.0.2.0/24', '2001:db8::/32'] }),
  ]);
  keys = { here: here.key, elsewhere: elsewhere.key, office: office.key };
  officeKey = proxiedOffice.key;
});
afterAll(() => proxied.stop());

describe('without trusted proxies the connection counts', () => {
  for (const side of SIDES) {
    test(`${side}: an address on the list is served, another is 403`, async () => {
      const { url } = direct.gateway;
      expect((await post({ url, key: keys.here }, side, goodBody(side))).status).toBe(200);
      await expectRefusal(await post({ url, key: keys.elsewhere }, side, goodBody(side)), side, FORBIDDEN);
    });

    test(`${side}: the address that a caller states is ignored`, async () => {
      const { url } = direct.gateway;
      const claims = { 'x-forwarded-for': '192.0.2.7', forwarded: 'for=192.0.2.7', 'x-real-ip': '192.0.2.7' };
      await expectRefusal(await post({ url, key: keys.office }, side, goodBody(side), claims), side, FORBIDDEN);
      expect((await post({ url, key: keys.here }, side, goodBody(side), claims)).status).toBe(200);
    });
  }

  test('the lists of models are bound as well', async () => {
    for (const path of ['/v1/models', '/v1/models/ok']) {
      await expectRefusal(await get({ url: direct.gateway.url, key: keys.elsewhere }, path), 'chat', FORBIDDEN);
      expect((await get({ url: direct.gateway.url, key: keys.here }, path)).status).toBe(200);
    }
  });
});

describe('behind trusted proxies the forwarded address counts', () => {
  const ask = (forwardedFor: string | null) =>
    post({ url: proxied.gateway.url, key: officeKey }, 'chat', goodBody('chat'), { 'x-forwarded-for': forwardedFor });

  for (const served of [
    '192.0.2.1',
    '192.0.2.255, 10.1.2.3',
    'spoofed, 192.0.2.1',
    '203.0.113.9, 192.0.2.1, 10.0.0.1, 127.0.0.9',
    '2001:db8::1',
  ]) {
    test(`served: ${served}`, async () => expect((await ask(served)).status).toBe(200));
  }

  for (const refused of [
    null,
    '',
    '203.0.113.9',
    '192.0.2.1, 203.0.113.9',
    '192.0.2.1, nonsense',
    '192.0.2.1, nonsense, 10.0.0.1',
    '192.0.2.1, 203.0.113.9, 10.0.0.1',
    '192.0.3.0',
    '2001:db9::1',
    '192.0.2.1:443x',
  ]) {
    test(`refused: ${refused ?? 'no header'}`, async () => {
      await expectRefusal(await ask(refused), 'chat', FORBIDDEN);
    });
  }
});
