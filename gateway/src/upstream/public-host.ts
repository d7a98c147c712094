/** Finds the address of a host that must be on the public internet. Opens no connection. */
import { lookup } from 'node:dns/promises';
import { isPublicAddress, parseIpAddress } from '../lib/ip-range.ts';

/** Every address of a host, as text. */
export type LookUpHost = (host: string) => Promise<readonly string[]>;

const lookUpHost: LookUpHost = async (host) =>
  (await lookup(host, { all: true, order: 'ipv4first' })).map(({ address }) => address);

/** A host that a console provider may not use, with a message for the operator. */
export class PrivateAddressError extends Error {
  override readonly name = 'NotPublic';
}

/**
 * An address to connect to. One non-public address among several refuses the host, because the owner of the name
 * decides which one a look-up returns first.
 * @throws PrivateAddressError, or the error of the look-up.
 */
export async function findPublicAddress(host: string, lookUp: LookUpHost = lookUpHost): Promise<string> {
  const texts = parseIpAddress(host) === null ? await lookUp(host) : [host];
  const [first] = texts;
  if (first === undefined) throw new PrivateAddressError(`${host} has no address`);
  for (const text of texts) {
    const address = parseIpAddress(text);
    if (address === null || !isPublicAddress(address)) {
      throw new PrivateAddressError(`${host} has the address ${text}, which is not one of the public internet`);
    }
  }
  return first;
}
