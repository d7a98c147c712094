/** Plans one answer: every write, wait and end in order, as a lazy list. Pure: it uses no socket and no clock. */

import type { Chunking, CutHow, Scenario } from '../scenario.ts';
import type { Answer } from './answer.ts';
import { type BodyPart, concatBytes, utf8 } from './body-part.ts';
import { divideBody, framedParts, type Piece } from './divide-body.ts';
import { type Framing, mergeHeaders, renderHead } from './http-head.ts';

/** A part, and the position of its last byte in its write, as a count of body bytes. */
export interface PartEnd {
  readonly part: BodyPart;
  readonly at: number;
}

/** One write. Of `wire`, `bodyBytes` bytes from `bodyFrom` on are body; the rest is head or framing. */
export interface WriteStep {
  readonly do: 'write';
  readonly wire: Uint8Array;
  readonly bodyFrom: number;
  readonly bodyBytes: number;
  /** Parts that end in this write, in order. */
  readonly ends: readonly PartEnd[];
}

/**
 * `turn` yields to the event loop once; `hold` waits for `release`; `end` closes the answer, and the connection unless it
 * is `keep`.
 */
export type Step =
  | WriteStep
  | { readonly do: 'turn' }
  | { readonly do: 'hold' }
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'end'; readonly how: 'keep' | 'close' | CutHow };

const CRLF = utf8('\r\n');
const LAST_CHUNK = utf8('0\r\n\r\n');
const NO_ENDS: readonly PartEnd[] = [];

function plainWrite(wire: Uint8Array): WriteStep {
  return { do: 'write', wire, bodyFrom: 0, bodyBytes: 0, ends: NO_ENDS };
}

/** A piece as sent on the wire; with `bodyBytes` below its length it is cut there, mid-chunk if chunked. */
function pieceWrite(bytes: Uint8Array, ends: readonly PartEnd[], framing: Framing, bodyBytes: number): WriteStep {
  const cut = bodyBytes < bytes.byteLength;
  const body = cut ? bytes.subarray(0, bodyBytes) : bytes;
  if (framing.by !== 'chunks') return { do: 'write', wire: body, bodyFrom: 0, bodyBytes, ends };
  const size = utf8(`${bytes.byteLength.toString(16)}\r\n`);
  const wire = concatBytes(cut ? [size, body] : [size, body, CRLF]);
  return { do: 'write', wire, bodyFrom: size.byteLength, bodyBytes, ends };
}

function* firstParts(parts: Iterable<BodyPart>, count: number): Generator<BodyPart> {
  if (count === 0) return;
  let given = 0;
  for (const part of parts) {
    yield part;
    given += 1;
    if (given === count) return;
  }
}

function chooseFraming(
  answer: Answer,
  scenario: Scenario,
  chunking: Chunking,
): { framing: Framing; bodyBytes: number } {
  const by = scenario.framing ?? (answer.stream || scenario.bothLengths === true ? 'chunked' : 'content-length');
  const needsLength = by === 'content-length' || scenario.bothLengths === true;
  let bodyBytes = 0;
  if (needsLength) for (const part of framedParts(answer.parts, chunking)) bodyBytes += part.bytes.byteLength;
  if (by === 'content-length') return { framing: { by: 'length', bodyBytes }, bodyBytes };
  return { framing: { by: by === 'chunked' ? 'chunks' : 'close' }, bodyBytes };
}

function gapOf(scenario: Scenario): Step {
  return scenario.gapMs === undefined ? { do: 'turn' } : { do: 'wait', ms: scenario.gapMs };
}

function* bodySteps(pieces: Iterable<Piece>, framing: Framing, scenario: Scenario): Generator<Step> {
  const { cut } = scenario;
  const cutAt = cut !== undefined && typeof cut.at === 'number' ? cut.at : null;
  const gap = gapOf(scenario);
  let sent = 0;
  let ended = 0;
  let events = 0;
  let between: Step | null = null;
  for (const piece of pieces) {
    if (cutAt !== null && sent >= cutAt) break;
    if (between !== null) yield between;
    const room = cutAt === null ? Number.POSITIVE_INFINITY : cutAt - sent;
    const from = sent;
    const ends = piece.ends.map((part): PartEnd => {
      ended += part.bytes.byteLength;
      return { part, at: ended - from };
    });
    yield pieceWrite(piece.bytes, ends, framing, Math.min(room, piece.bytes.byteLength));
    sent += piece.bytes.byteLength;
    const isEvent = piece.ends.length > 0;
    events += piece.ends.length;
    if (isEvent && events === scenario.holdAfterEvent) between = { do: 'hold' };
    else if (isEvent && scenario.delayBetweenEventsMs !== undefined) {
      between = { do: 'wait', ms: scenario.delayBetweenEventsMs };
    } else between = gap;
  }
}

function* tailSteps(framing: Framing, scenario: Scenario): Generator<Step> {
  if (scenario.cut !== undefined) {
    yield { do: 'end', how: scenario.cut.how };
    return;
  }
  if (scenario.stallAfterEvent !== undefined) {
    yield { do: 'end', how: 'stall' };
    return;
  }
  const rest: Uint8Array[] = [];
  if (framing.by === 'chunks' && scenario.rawHead === undefined) rest.push(LAST_CHUNK);
  if (scenario.extraBytes !== undefined) rest.push(utf8(scenario.extraBytes));
  if (rest.length > 0) yield plainWrite(concatBytes(rest));
  yield { do: 'end', how: framing.by === 'close' ? 'close' : 'keep' };
}

/**
 * Merges everything between two waits into one write. The steps must hold at most one body write, as with `all` and
 * plain.
 */
function* joinedWrites(steps: Iterable<Step>): Generator<Step> {
  let held: WriteStep[] = [];
  const flush = (): WriteStep => {
    const wire = concatBytes(held.map((step) => step.wire));
    const body = held.findIndex((step) => step.bodyBytes > 0);
    const bodyFrom = held.slice(0, Math.max(body, 0)).reduce((sum, step) => sum + step.wire.byteLength, 0);
    const first = held[body];
    const ends = held.flatMap((step) => step.ends);
    held = [];
    return { do: 'write', wire, bodyFrom: bodyFrom + (first?.bodyFrom ?? 0), bodyBytes: first?.bodyBytes ?? 0, ends };
  };
  for (const step of steps) {
    if (step.do === 'turn') continue;
    if (step.do === 'write') {
      held.push(step);
      continue;
    }
    if (held.length > 0) yield flush();
    yield step;
  }
}

function* allSteps(answer: Answer, scenario: Scenario, chunking: Chunking): Generator<Step> {
  if (scenario.delayBeforeFirstByteMs !== undefined) yield { do: 'wait', ms: scenario.delayBeforeFirstByteMs };
  const { framing, bodyBytes } = chooseFraming(answer, scenario, chunking);
  const cut = scenario.cut;
  if (cut?.at === 'before-headers') {
    yield { do: 'end', how: cut.how };
    return;
  }
  const status = scenario.status ?? answer.status;
  const headers = mergeHeaders(answer.headers, scenario.headers);
  const head = Buffer.from(renderHead(status, headers, framing, bodyBytes, scenario), 'latin1');
  if (cut?.at === 'in-headers') {
    yield plainWrite(head.subarray(0, Math.floor(head.byteLength / 2)));
    yield { do: 'end', how: cut.how };
    return;
  }
  yield plainWrite(head);
  if (scenario.delayAfterHeadMs !== undefined) yield { do: 'wait', ms: scenario.delayAfterHeadMs };
  else yield gapOf(scenario);
  const limit = scenario.stallAfterEvent;
  const parts = limit === undefined ? answer.parts : firstParts(answer.parts, limit);
  const pieces = divideBody(framedParts(parts, chunking), chunking);
  yield* bodySteps(pieces, scenario.rawHead === undefined ? framing : { by: 'close' }, scenario);
  yield* tailSteps(framing, scenario);
}

/**
 * Returns the steps of one answer under a scenario. Lazy: an endless answer yields steps forever. @throws Error while
 * stepping, if an endless answer has `chunking: 'all'` or `framing: 'content-length'`; callers refuse such scripts
 * beforehand.
 */
export function planAnswer(answer: Answer, scenario: Scenario): Iterable<Step> {
  const chunking = scenario.chunking ?? 'record';
  const steps = allSteps(answer, scenario, chunking);
  const small = !answer.stream && Array.isArray(answer.parts) && scenario.chunking === undefined;
  return (small && scenario.gapMs === undefined) || chunking === 'all' ? joinedWrites(steps) : steps;
}
