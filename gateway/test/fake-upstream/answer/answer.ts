/** Defines an answer before any fault is applied, and the four answers that need no model. */

import { errorPart, type Protocol } from '../protocol.ts';
import { type BodyPart, plainPart, utf8 } from './body-part.ts';

export type HeaderLine = readonly [name: string, value: string];

/** A good or bad answer as a provider would give it, which a scenario then modifies. `parts` may be endless. */
export interface Answer {
  readonly status: number;
  readonly headers: readonly HeaderLine[];
  readonly stream: boolean;
  readonly parts: Iterable<BodyPart>;
}

export const JSON_HEADERS: readonly HeaderLine[] = [
  ['content-type', 'application/json'],
  ['x-request-id', 'req_fake'],
  ['request-id', 'req_fake'],
];

export const STREAM_HEADERS: readonly HeaderLine[] = [
  ['content-type', 'text/event-stream; charset=utf-8'],
  ['cache-control', 'no-cache'],
  ['x-request-id', 'req_fake'],
  ['request-id', 'req_fake'],
];

export function jsonAnswer(status: number, value: unknown): Answer {
  return { status, headers: JSON_HEADERS, stream: false, parts: [plainPart(utf8(JSON.stringify(value)))] };
}

export function streamAnswer(parts: Iterable<BodyPart>): Answer {
  return { status: 200, headers: STREAM_HEADERS, stream: true, parts };
}

/** Bedrock names its exceptions in a header, with an address after the name. */
const EXCEPTIONS: Readonly<Record<number, string>> = {
  400: 'ValidationException',
  403: 'AccessDeniedException',
  404: 'ResourceNotFoundException',
  408: 'ModelTimeoutException',
  424: 'ModelErrorException',
  429: 'ThrottlingException',
  500: 'InternalServerException',
  503: 'ServiceUnavailableException',
};

export function errorAnswer(protocol: Protocol, status: number, message: string): Answer {
  const exception = protocol === 'converse' ? EXCEPTIONS[status] : undefined;
  const named: readonly HeaderLine[] =
    exception === undefined ? [] : [['x-amzn-errortype', `${exception}:http://internal.invalid/coral/`]];
  return { status, headers: [...JSON_HEADERS, ...named], stream: false, parts: [errorPart(protocol, status, message)] };
}

const PADDING = utf8('x'.repeat(16_384));

/**
 * An error body of `bytes` bytes (at least the empty one's size), generated while it is sent so that memory stays flat.
 */
export function hugeErrorAnswer(protocol: Protocol, status: number, bytes: number): Answer {
  const empty = errorPart(protocol, status, '').bytes;
  const quote = new TextDecoder().decode(empty).indexOf('"message":""') + '"message":"'.length;
  function* parts(): Generator<BodyPart> {
    yield { bytes: empty.subarray(0, quote), usage: null };
    for (let left = bytes - empty.byteLength; left > 0; left -= PADDING.byteLength) {
      yield { bytes: left < PADDING.byteLength ? PADDING.subarray(0, left) : PADDING, usage: null };
    }
    yield { bytes: empty.subarray(quote), usage: null };
  }
  return { status, headers: JSON_HEADERS, stream: false, parts: { [Symbol.iterator]: parts } };
}
