/** Creates the process's log: JSON lines, never with a body, a key or a credential. */
import { pino } from 'pino';
import type { CallLog } from '../call/call-log.ts';
import { maskKeys } from '../lib/secret.ts';
import { escapeHidden } from './escape-hidden.ts';
import { LineWriter } from './line-writer.ts';

export type Log = ReturnType<typeof pino>;

/** The log of the process with the writer of its lines, which also takes lines that the logger is too slow for. */
export interface ProcessLog {
  readonly log: Log;
  readonly lines: LineWriter;
}

const STDERR = 2;

const TEXT_CHARS_MAX = 1_000;

/** Opens the log on standard error. Its owner closes `lines` before it ends the process. */
export function openLog(): ProcessLog {
  const lines = new LineWriter(STDERR);
  // For an exception that ends the process.
  process.on('exit', () => lines.writeAtExit());
  return { log: createLog(lines), lines };
}

/** Control characters are escaped, so that no upstream text can forge a line or move a terminal's cursor. */
export function createLog(lines: Pick<LineWriter, 'write'>): Log {
  const write = (line: string) => lines.write(`${escapeHidden(line.trimEnd())}\n`);
  return pino({ base: null, timestamp: pino.stdTimeFunctions.isoTime }, { write });
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
