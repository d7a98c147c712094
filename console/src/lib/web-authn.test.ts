/** Tests that WebAuthn's bytes and its JSON convert into each other, without a browser. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  createdJson,
  creationOptions,
  fromBase64Url,
  PasskeyFailure,
  requestOptions,
  signedJson,
  toBase64Url,
} from './web-authn.ts';

const bytes = (...values: number[]): ArrayBuffer => Uint8Array.from(values).buffer;

describe('base64url', () => {
  test('round-trips any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), (given) => {
        const text = toBase64Url(Uint8Array.from(given).buffer);
        expect(text).toMatch(/^[\w-]*$/);
        expect([...fromBase64Url(text)]).toEqual([...given]);
      }),
    );
  });
  test('agrees with Node', () => {
    expect(toBase64Url(bytes(0xfb, 0xff, 0xfe, 1))).toBe(Buffer.from([0xfb, 0xff, 0xfe, 1]).toString('base64url'));
  });
});

describe('WebAuthn messages', () => {
  test('creation options get bytes where required and keep the rest', () => {
    const options = creationOptions({
      challenge: 'AQI',
      rp: { id: 'gw.example', name: 'Tollgate' },
      user: { id: 'Aw', name: 'ada@example.com', displayName: 'Ada' },
      pubKeyCredParams: [{ type: 'public-key', alg: -7 }],
      timeout: 300_000,
      attestation: 'none',
      excludeCredentials: [{ id: 'BA', type: 'public-key' }],
      authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
    });
    expect([...(options.challenge as Uint8Array)]).toEqual([1, 2]);
    expect([...(options.user.id as Uint8Array)]).toEqual([3]);
    expect(options.user.displayName).toBe('Ada');
    expect(options.rp.id).toBe('gw.example');
    expect(options.excludeCredentials).toEqual([{ id: Uint8Array.from([4]), type: 'public-key' }]);
    expect(options.authenticatorSelection?.userVerification).toBe('required');
  });
  test('sign-in options request any passkey of the host with user verification', () => {
    const options = requestOptions({ challenge: 'AQ', rpId: 'gw.example', timeout: 1, userVerification: 'required' });
    expect(options).toEqual({
      challenge: Uint8Array.from([1]),
      rpId: 'gw.example',
      timeout: 1,
      userVerification: 'required',
    });
  });
  test('serializes a new passkey with its attestation', () => {
    const credential = {
      id: 'AQ',
      response: { clientDataJSON: bytes(2), attestationObject: bytes(3) },
    } as unknown as PublicKeyCredential;
    expect(createdJson(credential)).toEqual({
      id: 'AQ',
      type: 'public-key',
      response: { clientDataJSON: 'Ag', attestationObject: 'Aw' },
    });
  });
  test('serializes a sign-in with its signature and user, and rejects one without a user', () => {
    const response = { clientDataJSON: bytes(2), authenticatorData: bytes(4), signature: bytes(5) };
    const signed = (userHandle: ArrayBuffer | null) =>
      signedJson({ id: 'AQ', response: { ...response, userHandle } } as unknown as PublicKeyCredential);
    expect(signed(bytes(6))).toEqual({
      id: 'AQ',
      type: 'public-key',
      response: { clientDataJSON: 'Ag', authenticatorData: 'BA', signature: 'BQ', userHandle: 'Bg' },
    });
    expect(() => signed(null)).toThrow(PasskeyFailure);
  });
});
