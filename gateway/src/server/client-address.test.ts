/** Tests whose headers are trusted about https, and addresses with ports. The contract's tests cover trust in addresses. */
import { expect, test } from 'bun:test';
import { parseIpRange } from '../lib/ip-range.ts';
import { clientAddress, isForwardedHttps } from './answer-request.ts';

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

// As Azure Application Gateway writes them; other load balancers on request.
test.each([
  ['192.0.2.7:50123', '192.0.2.7'],
  ['[2001:db8::7]:50123', '2001:db8::7'],
  ['[2001:db8::7]', '2001:db8::7'],
  ['198.51.100.1, 192.0.2.7:50123, 10.9.9.9:443', '192.0.2.7'],
  ['2001:db8::7', '2001:db8::7'],
  ['192.0.2.7:', null],
  ['192.0.2.7:1:2', null],
  ['192.0.2.7:x', null],
  ['[2001:db8::7', null],
] as const)('of x-forwarded-for %j the address is %j', (forwardedFor, expected) => {
  expect(clientAddress('10.1.2.3', forwardedFor, proxies)).toBe(expected);
});
