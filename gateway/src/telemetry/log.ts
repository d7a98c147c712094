/** Creates the process's log: JSON lines on standard error, never with a body, a key or a credential. */
import { pino } from 'pino';
import type { CallLog } from '../call/call-log.ts';
import { maskKeys } from '../lib/secret.ts';

export type Log = ReturnType<typeof pino>;

const TEXT_CHARS_MAX = 1_000;

/** JSON lines escape control characters, so that no upstream text can forge a line or move a terminal's cursor. */
export function createLog(destination: number = 2): Log {
  return pino(
    { base: null, timestamp: pino.stdTimeFunctions.isoTime },
    pino.destination({ dest: destination, sync: true }),
  );
}

/** Bounds the memory of messages that are logged once per model. */
const MODELS_MAX = 10_000;

/** Writes the events of the call pipeline as log entries. */
export function createCallLog(log: Log): CallLog {
  const unpriced = new Set<string>();
  return {
    fault: (requestId, message, cause) => log.error({ request_id: requestId, cause: describe(cause) }, message),
    alarm: (requestId, message) => log.error({ request_id: requestId, alarm: true }, cut(message)),
    unpriced(requestId, model) {
      if (unpriced.has(model) || unpriced.size >= MODELS_MAX) return;
      unpriced.add(model);
      log.warn(
        { request_id: requestId, model: cut(model) },
        'a model without a price is in use and nothing is charged: set a price, or the price free',
      );
    },
    upstream: (requestId, provider, message) => log.warn({ request_id: requestId, provider }, cut(message)),
  };
}

function describe(cause: unknown): string {
  if (!(cause instanceof Error)) return cut(String(cause));
  const below = cause.cause === undefined ? '' : ` <- ${describe(cause.cause)}`;
  return cut(`${cause.stack ?? cause.message}${below}`);
}

function cut(given: string): string {
  const text = maskKeys(given);
  return text.length > TEXT_CHARS_MAX ? `${text.slice(0, TEXT_CHARS_MAX)}…` : text;
}
