/**
 * Gets the secret of the member's playground key from the console, when it is first needed, and again before it expires
 * or where the gateway refuses it. It stays in the memory of this page.
 */
import { ask } from '../../lib/api.ts';
import type { Credential } from './answer/use-run.ts';

interface Issued {
  readonly secret: string;
  readonly expiresAtMs: number;
}

/** A secret that expires so soon is replaced before it is used. */
const MARGIN_MS = 60_000;

/** By account and workspace. */
const issued = new Map<string, Promise<Issued>>();

export function sessionCredential(account: string, workspace: string): Credential {
  const place = JSON.stringify([account, workspace]);
  const isUsable = async (known: Promise<Issued>, refused: string | null) => {
    const { secret, expiresAtMs } = await known;
    return secret !== refused && expiresAtMs - MARGIN_MS > Date.now();
  };
  return async (refused) => {
    const known = issued.get(place);
    if (known !== undefined && (await isUsable(known, refused))) return (await known).secret;
    // Two runs that begin together share one request.
    if (issued.get(place) === known) {
      const next = issue(account, workspace);
      issued.set(place, next);
      next.catch(() => issued.delete(place));
    }
    const { secret } = await (issued.get(place) ?? issue(account, workspace));
    return secret === refused ? null : secret;
  };
}

async function issue(account: string, workspace: string): Promise<Issued> {
  const { secret, expires_at } = await ask('POST /accounts/{account}/playground-key', {
    path: { account },
    body: { workspace },
  });
  return { secret, expiresAtMs: Date.parse(expires_at) };
}
