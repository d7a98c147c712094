/**
 * Shuts a server down gracefully: reports not ready, answers new calls with 503, lets open calls finish, and ends the
 * remaining ones with an in-band error. The listening socket closes last: a refused connection would not say when to try
 * again.
 */

import { CallFailure } from '../errors/call-failure.ts';
import { closeIdle } from '../upstream/connection.ts';
import type { App } from './app.ts';

/** In milliseconds. `hurry` aborts every wait and ends all open calls at once. */
export interface DrainPlan {
  readonly serveOnMs: number;
  readonly finishMs: number;
  readonly hurry: AbortSignal;
}

/**
 * How long before the end open calls are ended with an error, so that their clients can retry elsewhere: at most half of
 * the time, because a shorter time would be none at all.
 */
const WARNING_MS_MAX = 10_000;
const LOOK_EVERY_MS = 20;
const LAST_WORDS_MS = 2_000;
/**
 * A client that sent a request this recently is likely to send another: that one is answered and closes its connection.
 */
const QUIET_MS = 300;
const QUIET_WITHIN_MS = 2_000;

/** Resolves when the last call is settled and everything is closed. */
export async function drain(app: App, { serveOnMs, finishMs, hurry }: DrainPlan): Promise<void> {
  const { deps, server } = app;
  deps.ready = false;
  await waitUntil(() => false, serveOnMs, hurry);
  deps.draining = true;
  server.closeSockets();
  const idle = () => deps.capacity.present.held === 0;
  const warningMs = Math.min(WARNING_MS_MAX, finishMs / 2);
  await waitUntil(idle, finishMs - warningMs, hurry);
  for (const call of deps.openCalls.items()) {
    call.interrupt(
      new CallFailure('draining', 'the gateway is shutting down; send the request again', { retryAfterSeconds: 1 }),
    );
  }
  await waitUntil(idle, warningMs, hurry);
  await untilQuiet(() => server.lastRequestMs(), hurry);
  const stopped = server.stop(false);
  if (idle()) await Promise.race([stopped, waitUntil(() => false, LAST_WORDS_MS, hurry)]);
  else await waitUntil(idle, LAST_WORDS_MS, null);
  await server.stop(true);
  await waitUntil(idle, LAST_WORDS_MS, null);
  closeIdle();
  await app.close();
}

/**
 * Closing a connection loses a request that is already on its way, so the client is told first. Two looks have to find
 * quiet: if the machine did not run this process for a while, the requests of that time are read only after the first.
 */
function untilQuiet(lastRequestMs: () => number, hurry: AbortSignal): Promise<void> {
  let wasQuiet = false;
  const isQuietAgain = () => {
    const before = wasQuiet;
    wasQuiet = performance.now() - lastRequestMs() >= QUIET_MS;
    return before && wasQuiet;
  };
  return waitUntil(isQuietAgain, QUIET_WITHIN_MS, hurry);
}

function waitUntil(done: () => boolean, atMostMs: number, hurry: AbortSignal | null): Promise<void> {
  const endMs = performance.now() + atMostMs;
  return new Promise((resolve) => {
    const look = () => {
      if (done() || performance.now() >= endMs || hurry?.aborted === true) resolve();
      else setTimeout(look, LOOK_EVERY_MS);
    };
    look();
  });
}
