/** Tests whose headers are trusted about https. The contract's tests cover trust in addresses. */
import { expect, test } from 'bun:test';
import { parseIpRange } from '../lib/ip-range.ts';
import { isForwardedHttps } from './answer-request.ts';

const proxies = [parseIpRange('10.0.0.0/8')];

test.each([
  ['a trusted proxy', '10.1.2.3', 'https', true],
  ['a trusted proxy, in capitals and with more hops', '10.1.2.3', ' HTTPS , http', true],
  ['a trusted proxy that says http', '10.1.2.3', 'http', false],
  ['a trusted proxy that says nothing', '10.1.2.3', null, false],
  ['somebody else', '192.0.2.1', 'https', false],
  ['nobody known', null, 'https', false],
] as const)('%s', (_name, peer, forwarded, expected) => {
  expect(isForwardedHttps(peer, forwarded, proxies)).toBe(expected);
});

test('without trusted proxies no header is trusted', () => {
  expect(isForwardedHttps('10.1.2.3', 'https', [])).toBe(false);
});
