/** Tests which addresses count as public internet addresses. */
import { expect, test } from 'bun:test';
import { isPublicAddress, parseIpAddress } from './ip-range.ts';

function isPublic(text: string): boolean {
  const address = parseIpAddress(text);
  if (address === null) throw new Error(`${text} is no address`);
  return isPublicAddress(address);
}

test('addresses of the internet are public', () => {
  for (const text of ['1.1.1.1', '9.255.255.255', '11.0.0.0', '172.15.255.255', '172.32.0.0', '100.63.255.255']) {
    expect([text, isPublic(text)]).toEqual([text, true]);
  }
  for (const text of ['2606:4700::1111', '2a00:1450:4001::200e', '::ffff:1.1.1.1']) {
    expect([text, isPublic(text)]).toEqual([text, true]);
  }
});

test.each([
  '0.0.0.0',
  '10.1.2.3',
  '100.64.0.1',
  '100.127.255.255',
  '127.0.0.1',
  '127.255.255.254',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '198.18.0.1',
  '224.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::127.0.0.1',
  '::ffff:127.0.0.1',
  '::ffff:169.254.169.254',
  '64:ff9b::7f00:1',
  '64:ff9b:1::1',
  '100::1',
  '2001:0:7f00:1::',
  '2001:db8::1',
  '2002:7f00:1::',
  'fc00::1',
  'fd00:ec2::254',
  'fe80::1',
  'fec0::1',
  'ff02::1',
])('%s is not', (text) => {
  expect(isPublic(text)).toBe(false);
});
