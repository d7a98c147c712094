/**
 * Owns that the browser offers its passkeys in the list of the e-mail field. Where it cannot, where there is no challenge and
 * where none is chosen, nothing is said: the button for it stands on the page, and says why it fails.
 */
import { useEffect, useRef } from 'react';
import { ask } from '../../lib/api.ts';
import { canOfferPasskeys, takeOfferedPasskey } from '../../lib/web-authn.ts';

/** Before the challenge, which holds for five minutes, is too old to be signed. */
const RENEWED_MS = 4 * 60_000;

/** `onChosen`: with what the browser had signed by the passkey. */
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

/** Null: this browser offers none. */
async function readChosen(signal: AbortSignal): Promise<PublicKeyCredential | null> {
  if (!(await canOfferPasskeys())) return null;
  return takeOfferedPasskey(await ask('POST /sign-in/passkey/options', { body: {} }, signal), signal);
}
