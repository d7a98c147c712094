/** Decodes the members of frames that have members of their own: attempts, and the audit entry of a movement. */

import type { MediaAndToolUsage, Usage } from '../../generation/usage.ts';
import type { UpstreamProtocolName } from '../../protocols/names.ts';
import type { AuditActor, AuditedMembers, NewAuditEntry } from '../ports/audit.ts';
import { ATTEMPT_PHASES, type AttemptRecord, BILLED } from '../ports/records.ts';
import { ATTEMPT, AUDIT, MEMBER } from './frame-members.ts';
import type { FrameReader } from './frame-reader.ts';

type Attempt = { -readonly [Member in keyof AttemptRecord]: AttemptRecord[Member] };
/** The members that most attempts lack. */
type RareMembers = Omit<Attempt, 'provider' | 'model' | 'status' | 'error' | 'duration_ms'>;

/** Reads the attempt that is the current member. @throws JournalFormatError */
export function readAttempt(reader: FrameReader): AttemptRecord {
  const outerEnd = reader.enterNested();
  let provider: string | null = null;
  let model: string | null = null;
  let status: number | null = null;
  let error: string | null = null;
  let start_ms: number | undefined;
  let connect_ms: number | null | undefined;
  let ttfb_ms: number | null | undefined;
  let ttft_ms: number | null | undefined;
  let duration_ms = 0;
  let rare: RareMembers | null = null;
  const { message: knownMax } = ATTEMPT;
  for (let member = reader.next(knownMax, 0); member !== 0; member = reader.next(knownMax, 0)) {
    switch (member) {
      case ATTEMPT.provider:
        provider = reader.text();
        break;
      case ATTEMPT.model:
        model = reader.text();
        break;
      case ATTEMPT.status:
        status = reader.number();
        break;
      case ATTEMPT.error:
        error = reader.text();
        break;
      case ATTEMPT.startMs:
        start_ms = reader.number();
        break;
      case ATTEMPT.connectMs:
        connect_ms = reader.numberOrNull();
        break;
      case ATTEMPT.ttfbMs:
        ttfb_ms = reader.numberOrNull();
        break;
      case ATTEMPT.ttftMs:
        ttft_ms = reader.numberOrNull();
        break;
      case ATTEMPT.durationMs:
        duration_ms = reader.number();
        break;
      default:
        rare ??= {};
        readRareMember(reader, member, rare);
    }
  }
  reader.leaveNested(outerEnd, MEMBER.attempt);
  if (provider === null || model === null) return reader.fail('has an attempt without provider or model');
  if (
    rare === null &&
    start_ms !== undefined &&
    connect_ms !== undefined &&
    ttfb_ms !== undefined &&
    ttft_ms !== undefined
  ) {
    return { provider, model, status, error, start_ms, connect_ms, ttfb_ms, ttft_ms, duration_ms };
  }
  return {
    provider,
    model,
    status,
    error,
    ...(start_ms !== undefined && { start_ms }),
    ...(connect_ms !== undefined && { connect_ms }),
    ...(ttfb_ms !== undefined && { ttfb_ms }),
    ...(ttft_ms !== undefined && { ttft_ms }),
    duration_ms,
    ...rare,
  };
}

function readRareMember(reader: FrameReader, member: number, rare: RareMembers): void {
  switch (member) {
    case ATTEMPT.cost:
      rare.cost_nano_usd = reader.decimal();
      break;
    case ATTEMPT.billed:
      rare.billed = oneOf(reader, BILLED);
      rare.cost_nano_usd ??= null;
      break;
    case ATTEMPT.n:
      rare.n = reader.number();
      break;
    case ATTEMPT.target:
      rare.target = reader.text();
      break;
    case ATTEMPT.credential:
      rare.credential = reader.text();
      break;
    case ATTEMPT.format:
      rare.format = reader.text() as UpstreamProtocolName;
      break;
    case ATTEMPT.why:
      rare.why = reader.text();
      break;
    case ATTEMPT.message:
      rare.message = reader.text();
      break;
    case ATTEMPT.class:
      rare.class = reader.text();
      break;
    case ATTEMPT.phase:
      rare.phase = oneOf(reader, ATTEMPT_PHASES);
      break;
    case ATTEMPT.waitMs:
      rare.wait_ms = reader.number();
      break;
    case ATTEMPT.exchanges:
      rare.exchanges = reader.number();
      break;
    case ATTEMPT.usage:
      rare.usage = reader.json('object') as Usage;
      break;
    case ATTEMPT.priceVersion:
      rare.price_version = reader.text();
      break;
    case ATTEMPT.upstreamRequestId:
      rare.upstream_request_id = reader.text();
      break;
    case ATTEMPT.door:
      rare.door = reader.text();
      break;
    case ATTEMPT.region:
      rare.region = reader.text();
      break;
    default:
      reader.skip();
  }
}

/** The word with this number, counted from 1. */
function oneOf<Word extends string>(reader: FrameReader, words: readonly Word[]): Word {
  const number = reader.number();
  return words[number - 1] ?? reader.fail(`has the number ${number}, expected 1 to ${words.length}`);
}

/** Reads the audit entry that is the current member. @throws JournalFormatError */
export function readAudit(reader: FrameReader): NewAuditEntry {
  const outerEnd = reader.enterNested();
  const texts: (string | null)[] = new Array(AUDIT.after + 1).fill(null);
  let atMs = 0;
  let before: AuditedMembers | null = null;
  let after: AuditedMembers | null = null;
  for (let member = reader.next(AUDIT.after, 0); member !== 0; member = reader.next(AUDIT.after, 0)) {
    if (member === AUDIT.atMs) atMs = reader.number();
    else if (member === AUDIT.before) before = reader.json('object') as AuditedMembers;
    else if (member === AUDIT.after) after = reader.json('object') as AuditedMembers;
    else if (member < AUDIT.before) texts[member] = reader.text();
    else reader.skip();
  }
  reader.leaveNested(outerEnd, MEMBER.audit);
  const given = (name: keyof typeof AUDIT) =>
    texts[AUDIT[name]] ?? reader.fail(`has an audit entry without its member ${AUDIT[name]} (${name})`);
  return {
    atMs,
    account: given('account'),
    workspace: texts[AUDIT.workspace] ?? null,
    by: {
      actor: { kind: given('actorKind') as AuditActor['kind'], id: given('actorId'), name: given('actorName') },
      address: texts[AUDIT.address] ?? null,
    },
    act: given('act'),
    subject: { kind: given('subjectKind'), id: given('subjectId') },
    before,
    after,
  };
}

interface FrameUsage extends Pick<Usage, 'input' | 'output' | 'reasoning'> {
  readonly cacheRead: number;
  readonly cacheWrite5m: number;
  readonly cacheWrite1h: number;
  readonly extras: MediaAndToolUsage | null;
}

/** The usage of a frame; its members keep the order in which records are printed. */
export function usageOf(frame: FrameUsage): Usage {
  const { input, output, reasoning, extras } = frame;
  const cache_read = frame.cacheRead;
  const cache_write_5m = frame.cacheWrite5m;
  const cache_write_1h = frame.cacheWrite1h;
  if (extras === null) return { input, cache_read, cache_write_5m, cache_write_1h, output, reasoning };
  return { input, cache_read, cache_write_5m, cache_write_1h, output, reasoning, extras };
}
