/** Owns the orderly end of a server: not ready, no new calls, open calls finish, those that cannot are told so in-band. */

import { CallFailure } from '../errors/call-failure.ts';
import { closeIdle } from '../upstream/connection.ts';
import type { App } from './app.ts';

/** Milliseconds; `hurry` aborts every wait: what is still open is then ended at once. */
export interface DrainPlan {
  readonly serveOnMs: number;
  readonly finishMs: number;
  readonly hurry: AbortSignal;
}

/** How long before the end a stream is told that it ends, so that its client can begin again elsewhere. */
const WARNING_MS = 10_000;
const LOOK_EVERY_MS = 20;
const LAST_WORDS_MS = 2_000;
/** Clients that sent a request so recently are about to send another: it is answered, and the last of its connection. */
const QUIET_MS = 300;
const QUIET_WITHIN_MS = 2_000;

/** Resolves when the last call is settled and everything is closed. */
export async function drain(app: App, { serveOnMs, finishMs, hurry }: DrainPlan): Promise<void> {
  const { gate, server } = app;
  gate.ready = false;
  await waitUntil(() => false, serveOnMs, hurry);
  gate.draining = true;
  await untilQuiet(() => server.lastRequestMs(), hurry);
  const stopped = server.stop(false);
  const idle = () => gate.capacity.present.held === 0;
  await waitUntil(idle, Math.max(0, finishMs - WARNING_MS), hurry);
  for (const call of gate.waiting.items()) {
    call.interrupt(
      new CallFailure('draining', 'the gateway is shutting down; send the call again', { retryAfterSeconds: 1 }),
    );
  }
  await waitUntil(idle, Math.min(finishMs, WARNING_MS), hurry);
  if (idle()) await Promise.race([stopped, waitUntil(() => false, LAST_WORDS_MS, hurry)]);
  else await waitUntil(idle, LAST_WORDS_MS, null);
  await server.stop(true);
  await waitUntil(idle, LAST_WORDS_MS, null);
  closeIdle();
  await app.close();
}

/** A connection that is closed while a request is on its way to it loses the request: its client is told before. */
function untilQuiet(lastRequestMs: () => number, hurry: AbortSignal): Promise<void> {
  return waitUntil(() => performance.now() - lastRequestMs() >= QUIET_MS, QUIET_WITHIN_MS, hurry);
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
