/** Checks that WebAuthn's bytes and its JSON become each other; no browser is asked. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { creationOptions, credentialJson, fromBase64Url, requestOptions, toBase64Url } from './web-authn.ts';

const bytes = (...values: number[]): ArrayBuffer => Uint8Array.from(values).buffer;

describe('bytes as base64url', () => {
  test('any bytes come back', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), (given) => {
        const text = toBase64Url(Uint8Array.from(given).buffer);
        expect(text).toMatch(/^[\w-]*$/);
        expect([...fromBase64Url(text)]).toEqual([...given]);
      }),
    );
  });
  test('agrees with what Node writes', () => {
    expect(toBase64Url(bytes(0xfb, 0xff, 0xfe, 1))).toBe(Buffer.from([0xfb, 0xff, 0xfe, 1]).toString('base64url'));
  });
});

describe('messages of WebAuthn', () => {
  test('the options to make a passkey get bytes where the browser wants them, and keep the rest', () => {
    const options = creationOptions({
      challenge: 'AQI',
      rp: { id: 'gw.example', name: 'Tollgate' },
      user: { id: 'Aw', name: 'ada@example.com', displayName: 'Ada' },
      excludeCredentials: [{ id: 'BA', type: 'public-key', transports: ['internal'] }],
    });
    expect([...(options.challenge as Uint8Array)]).toEqual([1, 2]);
    expect([...(options.user.id as Uint8Array)]).toEqual([3]);
    expect(options.user.displayName).toBe('Ada');
    expect(options.rp.id).toBe('gw.example');
    expect(options.excludeCredentials).toEqual([
      { id: Uint8Array.from([4]), type: 'public-key', transports: ['internal'] },
    ]);
  });
  test('options without a list of credentials are those of any passkey', () => {
    expect(requestOptions({ challenge: 'AQ' }).allowCredentials).toEqual([]);
  });
  test('a new passkey is told with its attestation', () => {
    const credential = {
      id: 'AQ',
      rawId: bytes(1),
      type: 'public-key',
      authenticatorAttachment: 'platform',
      getClientExtensionResults: () => ({ credProps: { rk: true } }),
      response: {
        clientDataJSON: bytes(2),
        attestationObject: bytes(3),
        getTransports: () => ['internal'],
      },
    } as unknown as PublicKeyCredential;
    expect(credentialJson(credential)).toEqual({
      id: 'AQ',
      rawId: 'AQ',
      type: 'public-key',
      authenticatorAttachment: 'platform',
      clientExtensionResults: { credProps: { rk: true } },
      response: { clientDataJSON: 'Ag', attestationObject: 'Aw', transports: ['internal'] },
    });
  });
  test('a sign-in is told with its signature, and without a user handle where there is none', () => {
    const credential = {
      id: 'AQ',
      rawId: bytes(1),
      type: 'public-key',
      authenticatorAttachment: null,
      getClientExtensionResults: () => ({}),
      response: { clientDataJSON: bytes(2), authenticatorData: bytes(4), signature: bytes(5), userHandle: null },
    } as unknown as PublicKeyCredential;
    expect(credentialJson(credential).response).toEqual({
      clientDataJSON: 'Ag',
      authenticatorData: 'BA',
      signature: 'BQ',
    });
  });
});
