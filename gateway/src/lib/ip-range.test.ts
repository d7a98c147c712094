/** Tests addresses and ranges against an oracle that computes with one 128-bit integer. */
import { describe, expect, test } from 'bun:test';
import { assert, bigInt, integer, ipV4, ipV6, property } from 'fast-check';
import { type IpAddress, parseIpAddress, parseIpRange, rangeHolds } from './ip-range.ts';

/** An address that is known to be valid. */
function address(text: string): IpAddress {
  const found = parseIpAddress(text);
  if (found === null) throw new Error(`${text} did not parse`);
  return found;
}

/** The address as a number, to compare it with the standard. */
function numberOf(address: IpAddress): bigint {
  return address.toByteArray().reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
}

function renderV6(value: bigint): string {
  return (value.toString(16).padStart(32, '0').match(/.{4}/g) ?? []).join(':');
}

function renderV4(value: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n).join('.');
}

describe('parseIpAddress', () => {
  test.each([
    ['0.0.0.0', 'ipv4', 0n],
    ['255.255.255.255', 'ipv4', 0xffffffffn],
    ['192.0.2.7', 'ipv4', 0xc0000207n],
    ['::', 'ipv6', 0n],
    ['::1', 'ipv6', 1n],
    ['2001:db8::8:800:200c:417a', 'ipv6', 0x20010db80000000000080800200c417an],
    ['FF01::101', 'ipv6', (0xff01n << 112n) | 0x101n],
    ['1::', 'ipv6', 1n << 112n],
    ['::ffff:192.0.2.7', 'ipv4', 0xc0000207n],
    ['::ffff:c000:207', 'ipv4', 0xc0000207n],
    ['0:0:0:0:0:ffff:10.0.0.1', 'ipv4', 0x0a000001n],
    ['::192.0.2.7', 'ipv6', 0xc0000207n],
    ['64:ff9b::192.0.2.33', 'ipv6', (0x64ff9bn << 96n) | 0xc0000221n],
  ] as const)('reads %s', (text, kind, value) => {
    const found = address(text);
    expect([found.kind(), numberOf(found)]).toEqual([kind, value]);
  });

  test.each([
    '',
    ' ',
    '1.2.3',
    '1.2.3.4.5',
    '256.0.0.1',
    '01.2.3.4',
    '0x7f.1',
    '2130706433',
    '1.2.3.4 ',
    '１.2.3.4',
    '1.2.3.-4',
    ':',
    ':::',
    '1::2::3',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '1:2:3:4:5:6:7:8::',
    '12345::',
    'g::',
    '::1%eth0',
    '1.2.3.4::',
    '::1.2.3.4:1',
    '::1.2.3.256',
    '::ffff:01.2.3.4',
    '::ffff:0x7f.0.0.1',
    '[::1]',
    `::${'0'.repeat(100)}`,
    '1::2:3:4:5:6:7:8',
    ':1:2:3:4:5:6:7:8',
  ])('refuses %p', (text) => expect(parseIpAddress(text)).toBeNull());

  test('reads every form in which an address may be written', () => {
    assert(property(ipV4(), (text) => address(text).toString() === text));
    assert(property(ipV6(), (text) => parseIpAddress(text) !== null));
  });

  test('an address in full reads back as itself', () => {
    const mapped = 0xffffn;
    assert(
      property(bigInt({ min: 0n, max: 2n ** 128n - 1n }), (value) => {
        return numberOf(address(renderV6(value))) === (value >> 32n === mapped ? value & 0xffffffffn : value);
      }),
    );
  });
});

describe('parseIpRange', () => {
  test.each([
    ['10.0.0.1/8', '10.0.0.0/8'],
    ['2001:db8::1/32', '2001:db8::/32'],
    ['1.1.1.1/0', '0.0.0.0/0'],
  ])('refuses %s, which has bits beyond its prefix, with the correct range', (text, instead) => {
    expect(() => parseIpRange(text)).toThrow(`write ${instead} for the range`);
  });

  test.each(['10.0.0.0/33', '10.0.0.0/-1', '10.0.0.0/08', '10.0.0.0/', '::/129', '::ffff:10.0.0.0/8'])(
    'refuses the prefix of %s',
    (text) => expect(() => parseIpRange(text)).toThrow(/expected a prefix from \d+ to \d+ after the slash/),
  );

  test.each(['', 'localhost', '10.0.0.0/8/8', '10.0.0', '/8'])('refuses %p with the expected form', (text) => {
    expect(() => parseIpRange(text)).toThrow('expected an IP address or a CIDR range');
  });
});

describe('rangeHolds', () => {
  const v4 = bigInt({ min: 0n, max: 2n ** 32n - 1n });
  const v6 = bigInt({ min: 1n << 60n, max: 2n ** 128n - 1n });

  for (const [family, widthBits, values, render] of [
    ['IPv4', 32, v4, renderV4],
    ['IPv6', 128, v6, renderV6],
  ] as const) {
    test(`${family}: holds exactly the addresses that share the prefix`, () => {
      assert(
        property(
          values,
          integer({ min: 0, max: widthBits }),
          integer({ min: 0, max: widthBits - 1 }),
          (value, prefixBits, flip) => {
            const free = BigInt(widthBits - prefixBits);
            const range = parseIpRange(`${render((value >> free) << free)}/${prefixBits}`);
            const other = value ^ (1n << BigInt(widthBits - 1 - flip));
            if (family === 'IPv6' && other < 1n << 48n) return true;
            return (
              rangeHolds(range, address(render(value))) &&
              rangeHolds(range, address(render(other))) === flip >= prefixBits
            );
          },
        ),
      );
    });
  }

  test('an IPv4 address and its mapped IPv6 form are the same, in ranges too', () => {
    expect(rangeHolds(parseIpRange('10.0.0.0/8'), address('::ffff:10.1.2.3'))).toBe(true);
    expect(rangeHolds(parseIpRange('::ffff:10.0.0.0/104'), address('10.1.2.3'))).toBe(true);
    expect(rangeHolds(parseIpRange('::ffff:10.0.0.0/104'), address('11.1.2.3'))).toBe(false);
  });

  test('a range of one family contains no address of the other', () => {
    expect(rangeHolds(parseIpRange('::/0'), address('10.1.2.3'))).toBe(false);
    expect(rangeHolds(parseIpRange('0.0.0.0/0'), address('::1'))).toBe(false);
  });

  test('an address alone is a range of one', () => {
    expect(rangeHolds(parseIpRange('192.0.2.7'), address('192.0.2.7'))).toBe(true);
    expect(rangeHolds(parseIpRange('192.0.2.7'), address('192.0.2.6'))).toBe(false);
  });
});
