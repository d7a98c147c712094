/** Owns finding the address of a host that must be one of the public internet. Opens no connection. */
import { lookup } from 'node:dns/promises';
import { parseIpAddress } from '../lib/ip-range.ts';
import { isPublicAddress } from '../lib/public-address.ts';

/** Every address of a host, as text. */
export type LookUpHost = (host: string) => Promise<readonly string[]>;

const lookUpHost: LookUpHost = async (host) =>
  (await lookup(host, { all: true, order: 'ipv4first' })).map(({ address }) => address);

/** A host that a provider of the console may not have, in words for the operator. */
export class NotPublic extends Error {
  override readonly name = 'NotPublic';
}

/**
 * An address to connect to. One that is not public among several refuses the host: which one a look-up gives first is up
 * to whoever runs the name.
 * @throws NotPublic, or what the look-up throws.
 */
export async function findPublicAddress(host: string, lookUp: LookUpHost = lookUpHost): Promise<string> {
  const texts = parseIpAddress(host) === null ? await lookUp(host) : [host];
  const [first] = texts;
  if (first === undefined) throw new NotPublic(`${host} has no address`);
  for (const text of texts) {
    const address = parseIpAddress(text);
    if (address === null || !isPublicAddress(address)) {
      throw new NotPublic(`${host} has the address ${text}, which is not one of the public internet`);
    }
  }
  return first;
}
