/**
 * Offers passkeys as autofill in the email field. Shows no error when the browser cannot, when there is no challenge,
 * or when none is chosen: the passkey button on the page reports errors.
 */
import { useEffect, useRef } from 'react';
import { ask } from '../../lib/api.ts';
import { canOfferPasskeys, takeOfferedPasskey } from '../../lib/web-authn.ts';

/** Renewed before the challenge, which is valid for five minutes, is too old to be signed. */
const RENEWED_MS = 4 * 60_000;

/** `onChosen`: receives the credential that the browser signed. */
export function usePasskeyOffer(isWanted: boolean, onChosen: (signed: PublicKeyCredential) => void): void {
  const tell = useRef(onChosen);
  tell.current = onChosen;
  useEffect(() => {
    if (!isWanted) return;
    let offer = new AbortController();
    const begin = async () => {
      offer.abort();
      offer = new AbortController();
      const { signal } = offer;
      const chosen = await readChosen(signal).catch(() => null);
      if (chosen !== null && !signal.aborted) tell.current(chosen);
    };
    void begin();
    const timer = setInterval(begin, RENEWED_MS);
    return () => {
      clearInterval(timer);
      offer.abort();
    };
  }, [isWanted]);
}

/** Null when this browser offers none. */
async function readChosen(signal: AbortSignal): Promise<PublicKeyCredential | null> {
  if (!(await canOfferPasskeys())) return null;
  return takeOfferedPasskey(await ask('POST /sign-in/passkey/options', { body: {} }, signal), signal);
}
