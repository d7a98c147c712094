/** Owns IP addresses and CIDR ranges as text and as numbers. A v4-mapped IPv6 address is its IPv4 address. Resolves no name. */

/** An address as 32-bit words, most significant first: one for IPv4, four for IPv6. */
export type IpAddress = readonly number[];

/** All addresses whose first `prefixBits` bits are those of `network`; a range holds addresses of its own family only. */
export interface IpRange {
  readonly network: IpAddress;
  readonly prefixBits: number;
}

/** The address that a text writes (dotted IPv4, or IPv6 per RFC 4291 section 2.2, without a zone), or null. */
export function parseIpAddress(text: string): IpAddress | null {
  if (!text.includes(':')) return parseIpv4(text);
  const words = parseIpv6(text);
  if (words === null) return null;
  const [a, b, c, d] = words;
  return a === 0 && b === 0 && c === 0xffff && d !== undefined ? [d] : words;
}

/**
 * The range that a text writes: `10.0.0.0/8`, `2001:db8::/32`, or one address.
 *
 * @throws RangeError that says what was found, what was expected, and what to write instead.
 */
export function parseIpRange(text: string): IpRange {
  const found = JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
  const expected = 'expected an IP address or a CIDR range (such as 192.0.2.7, 10.0.0.0/8 or 2001:db8::/32)';
  const [addressText = '', prefixText, ...more] = text.split('/');
  const network = parseIpAddress(addressText);
  if (network === null || more.length > 0) throw new RangeError(`found ${found}, ${expected}`);
  const widthBits = network.length * 32;
  if (prefixText === undefined) return { network, prefixBits: widthBits };
  // A v4-mapped range counts its prefix in IPv6's 128 bits: ::ffff:10.0.0.0/104 is 10.0.0.0/8.
  const offsetBits = network.length === 1 && addressText.includes(':') ? 96 : 0;
  const prefixBits = /^(0|[1-9]\d{0,2})$/.test(prefixText) ? Number(prefixText) - offsetBits : -1;
  if (prefixBits < 0 || prefixBits > widthBits) {
    throw new RangeError(
      `found ${found}, expected a prefix from ${offsetBits} to ${widthBits + offsetBits} after the slash`,
    );
  }
  const masked = network.map((word, index) => (word & wordMask(prefixBits, index)) >>> 0);
  if (masked.some((word, index) => word !== network[index])) {
    throw new RangeError(
      `found ${found}, which has bits beyond its prefix; write ${renderIpAddress(masked)}/${prefixBits} for the range, or the address alone`,
    );
  }
  return { network, prefixBits };
}

/** Whether the address lies in the range. */
export function rangeHolds(range: IpRange, address: IpAddress): boolean {
  if (range.network.length !== address.length) return false;
  for (let index = 0; index < address.length; index++) {
    const difference = (address[index] ?? 0) ^ (range.network[index] ?? 0);
    if ((difference & wordMask(range.prefixBits, index)) !== 0) return false;
  }
  return true;
}

/** The address as text; IPv6 in full length, without `::`. */
export function renderIpAddress(address: IpAddress): string {
  const parts = address.flatMap((word) =>
    address.length === 1
      ? [word >>> 24, (word >>> 16) & 255, (word >>> 8) & 255, word & 255].map(String)
      : [(word >>> 16).toString(16), (word & 0xffff).toString(16)],
  );
  return parts.join(address.length === 1 ? '.' : ':');
}

function wordMask(prefixBits: number, index: number): number {
  const bits = Math.min(32, Math.max(0, prefixBits - index * 32));
  return bits === 0 ? 0 : -1 << (32 - bits);
}

/** Decimal parts only, without leading zeros: `010.0.0.1`, `0x7f.1` and `2130706433` mean different hosts to different readers. */
function parseIpv4(text: string): readonly [number] | null {
  const parts = text.split('.');
  if (parts.length !== 4 || !parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256)) return null;
  return [parts.reduce((word, part) => word * 256 + Number(part), 0)];
}

function parseIpv6(text: string): readonly number[] | null {
  if (text.length > 45) return null;
  const halves = text.split('::');
  if (halves.length > 2) return null;
  const head = parseGroups(halves[0] ?? '', halves.length === 1);
  const tail = parseGroups(halves[1] ?? '', true);
  if (head === null || tail === null) return null;
  const missing = 8 - head.length - tail.length;
  if (halves.length === 1 ? missing !== 0 : missing < 1) return null;
  const groups = [...head, ...new Array<number>(missing).fill(0), ...tail];
  return [0, 2, 4, 6].map((at) => (groups[at] ?? 0) * 0x10000 + (groups[at + 1] ?? 0));
}

/** The 16-bit groups of one side of `::`; where it ends the address it may end in dotted IPv4. */
function parseGroups(text: string, endsAddress: boolean): readonly number[] | null {
  if (text === '') return [];
  const groups: number[] = [];
  const pieces = text.split(':');
  for (const [index, piece] of pieces.entries()) {
    if (/^[0-9a-fA-F]{1,4}$/.test(piece)) {
      groups.push(Number.parseInt(piece, 16));
      continue;
    }
    const v4 = endsAddress && index === pieces.length - 1 ? parseIpv4(piece) : null;
    if (v4 === null) return null;
    groups.push(v4[0] >>> 16, v4[0] & 0xffff);
  }
  return groups;
}
