/** Tests for which addresses passkeys can be created, and their relying party. */
import { expect, test } from 'bun:test';
import { relyingPartyOf } from './relying-party.ts';

test.each([
  ['https://Gw.Example', { id: 'gw.example', origin: 'https://gw.example' }],
  ['https://gw.example:8443/deep', { id: 'gw.example', origin: 'https://gw.example:8443' }],
  ['http://localhost:8080', { id: 'localhost', origin: 'http://localhost:8080' }],
  ['http://127.0.0.1:8080', null],
  ['http://[::1]:8080', null],
  // Browsers read this as the address 127.0.0.1 too.
  ['http://0x7f.1:8080', null],
  ['http://', null],
  ['http://not a host', null],
])('%s', (address, party) => {
  expect(relyingPartyOf(address)).toEqual(party);
});
