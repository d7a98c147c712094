/** Tests the look-up of entered hosts with a name server of its own: rebinding, addresses that hide others, silence. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readFile } from 'node:fs/promises';
import { findPublicAddress, PrivateAddressError } from './dial.ts';
import { createLookUp } from './look-up.ts';
import { type NameServer, startNameServer } from './testing/name-server.ts';

let server: NameServer;
beforeAll(async () => {
  server = await startNameServer((name, type, nth) => {
    if (name.startsWith('silent')) return null;
    if (name === 'flips.example') return type === 'A' ? [nth === 1 ? '1.1.1.1' : '127.0.0.1'] : [];
    if (name === 'both.example') return type === 'A' ? ['1.1.1.1', '10.0.0.1'] : [];
    if (name === 'six.example') return type === 'A' ? [] : ['2606:4700::1111'];
    if (name === 'hidden.example') return type === 'A' ? ['1.1.1.1'] : ['::ffff:127.0.0.1'];
    if (name === 'nat64.example') return type === 'A' ? [] : ['64:ff9b::a9fe:a9fe'];
    return [];
  });
});
afterAll(() => server.stop());

const find = (host: string) => findPublicAddress(host, createLookUp([server.address]));

test('a name is looked up for each connection, and refused once it means this machine', async () => {
  expect(await find('flips.example')).toBe('1.1.1.1');
  await expect(find('flips.example')).rejects.toThrow('flips.example has the address 127.0.0.1, which is not public');
});

test.each(['both.example', 'hidden.example', 'nat64.example', 'localhost', 'a.localhost', 'LOCALHOST.'])(
  '%s is refused',
  async (host) => {
    await expect(find(host)).rejects.toBeInstanceOf(PrivateAddressError);
  },
);

test('a host may have addresses of one family only, or none', async () => {
  expect(await find('six.example')).toBe('2606:4700::1111');
  await expect(find('nothing.example')).rejects.toThrow('nothing.example');
});

test('silent name servers hold up neither other names nor files', async () => {
  const lookUp = createLookUp([server.address]);
  let ended = 0;
  for (let one = 0; one < 50; one += 1) {
    void lookUp(`silent${one}.example`)
      .catch(() => undefined)
      .finally(() => {
        ended += 1;
      });
  }
  expect(await findPublicAddress('six.example', lookUp)).toBe('2606:4700::1111');
  expect(await readFile(import.meta.path, 'utf8')).toContain('silent name servers');
  expect(ended).toBe(0);
});
