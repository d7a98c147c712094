/** Decodes the frames of a block of the journal; `frame-members.ts` describes the format. */
import type { Reason } from '../../errors/reason.ts';
import type { MediaAndToolUsage, Usage, UsageFlag, UsageSource } from '../../generation/usage.ts';
import type { ClientProtocolName } from '../../protocols/names.ts';
import type { NewAuditEntry } from '../ports/audit.ts';
import type { Frame } from '../ports/journal.ts';
import type { CallDraft, Checkpoint, DetachedJob } from '../ports/ledger.ts';
import type { AttemptRecord, CallRecord } from '../ports/records.ts';
import type { StoredByCall } from '../ports/stored-state.ts';
import { readAttempt, readAudit } from './decode-nested.ts';
import { KIND, MEMBER } from './frame-members.ts';
import { FrameReader } from './frame-reader.ts';

/**
 * Decodes the body of a block, which must be `count` frames and nothing else. Skips members that this version does not
 * know; refuses kinds that it does not know.
 *
 * @throws JournalFormatError, which names the frame and the byte
 */
export function decodeFrames(body: Uint8Array, count: number): Frame[] {
  const reader = new FrameReader(body);
  const members = new Members(reader);
  const frames: Frame[] = [];
  while (frames.length < count) frames.push(decodeFrame(reader, members));
  reader.finish();
  return frames;
}

function decodeFrame(reader: FrameReader, members: Members): Frame {
  const kind = reader.enterFrame();
  members.read();
  switch (kind) {
    case KIND.end:
      return {
        kind: 'end',
        record: members.record(),
        hold: members.held === null ? null : { amount: members.held, prepaid: members.prepaid },
        posted: members.posted,
        released: members.released,
        writtenOff: members.writtenOff,
        at_ms: members.given(members.endedMs, 'endedMs'),
        ...(members.stored !== null && { stored: members.stored }),
      };
    case KIND.hold: {
      const { held, prepaid } = members;
      return { kind: 'hold', draft: members.draft(), amount: members.given(held, 'held'), prepaid };
    }
    case KIND.refused:
      return { kind: 'refused', record: members.record() };
    case KIND.extend:
      return {
        kind: 'extend',
        call_id: members.given(members.callId, 'callId'),
        nth: members.given(members.nth, 'nth'),
        amount: members.given(members.amount, 'amount'),
        prepaid: members.prepaid,
        at_ms: members.given(members.atMs, 'atMs'),
      };
    case KIND.checkpoint:
      return {
        kind: 'checkpoint',
        call_id: members.given(members.callId, 'callId'),
        usage: members.usage(),
        cost: BigInt(members.given(members.cost, 'cost')),
        ...members.target(),
      };
    case KIND.movement:
      return {
        kind: 'movement',
        of: members.movementOf(),
        movement: {
          id: members.given(members.callId, 'callId'),
          account: members.given(members.account, 'account'),
          amount: members.given(members.amount, 'amount'),
          note: members.note,
          at_ms: members.given(members.atMs, 'atMs'),
        },
        prepaid: members.prepaid,
        audit: members.audit,
      };
    case KIND.detach:
      return {
        kind: 'detach',
        call_id: members.given(members.callId, 'callId'),
        at_ms: members.given(members.atMs, 'atMs'),
        job: members.given(members.job, 'job'),
        ...(members.stored !== null && { stored: members.stored }),
      };
    default:
      return reader.fail(`is of kind ${kind}, which this version does not know`);
  }
}

/** The members of one frame, of whatever kind; reused for the next one. */
class Members {
  readonly #reader: FrameReader;
  callId: string | null = null;
  atMs: number | null = null;
  account: string | null = null;
  workspace: string | null = null;
  keyId: string | null = null;
  keyName: string | null = null;
  protocol: string | null = null;
  model: string | null = null;
  servedModel: string | null = null;
  provider: string | null = null;
  status = 0;
  finishReason: string | null = null;
  input = 0;
  output = 0;
  usageSource: string | null = null;
  endUser: string | null = null;
  session: string | null = null;
  stream = false;
  error: string | null = null;
  cacheRead = 0;
  cacheWrite5m = 0;
  cacheWrite1h = 0;
  reasoning = 0;
  extras: MediaAndToolUsage | null = null;
  usageFlags: UsageFlag[] | null = null;
  priceVersion: string | null = null;
  cost: string | null = null;
  ttfbMs: number | null = null;
  durationMs = 0;
  reason: Reason | null = null;
  attempts: AttemptRecord[] = [];
  held: bigint | null = null;
  prepaid = false;
  posted = 0n;
  released = 0n;
  writtenOff = 0n;
  endedMs: number | null = null;
  nth: number | null = null;
  of = 0;
  amount: bigint | null = null;
  note: string | null = null;
  audit: NewAuditEntry | null = null;
  traceId: string | null = null;
  cachedFrom: string | null = null;
  masked: CallRecord['masked'] | null = null;
  stored: StoredByCall | null = null;
  job: DetachedJob | null = null;

  constructor(reader: FrameReader) {
    this.#reader = reader;
  }

  /** Reads the members of the frame that the reader has entered. */
  read(): void {
    const reader = this.#reader;
    this.#clear();
    const { job: knownMax, attempt } = MEMBER;
    for (let member = reader.next(knownMax, attempt); member !== 0; member = reader.next(knownMax, attempt)) {
      this.#take(reader, member);
    }
  }

  #clear(): void {
    this.callId = this.account = this.workspace = this.keyId = this.keyName = this.protocol = null;
    this.model = this.servedModel = this.provider = this.finishReason = this.usageSource = null;
    this.endUser = this.session = this.error = this.priceVersion = this.cost = this.note = this.traceId = null;
    this.cachedFrom = this.masked = null;
    this.atMs = this.ttfbMs = this.endedMs = this.nth = null;
    this.status = this.input = this.output = this.cacheRead = this.cacheWrite5m = this.cacheWrite1h = 0;
    this.reasoning = this.durationMs = this.of = 0;
    this.stream = this.prepaid = false;
    this.extras = this.usageFlags = this.reason = this.audit = this.stored = this.job = null;
    this.held = this.amount = null;
    this.posted = this.released = this.writtenOff = 0n;
    this.attempts = [];
  }

  #take(reader: FrameReader, member: number): void {
    switch (member) {
      case MEMBER.callId:
        this.callId = reader.text();
        break;
      case MEMBER.atMs:
        this.atMs = reader.number();
        break;
      case MEMBER.account:
        this.account = reader.text();
        break;
      case MEMBER.workspace:
        this.workspace = reader.text();
        break;
      case MEMBER.keyId:
        this.keyId = reader.text();
        break;
      case MEMBER.keyName:
        this.keyName = reader.text();
        break;
      case MEMBER.protocol:
        this.protocol = reader.text();
        break;
      case MEMBER.model:
        this.model = reader.text();
        break;
      case MEMBER.servedModel:
        this.servedModel = reader.text();
        break;
      case MEMBER.provider:
        this.provider = reader.text();
        break;
      case MEMBER.status:
        this.status = reader.number();
        break;
      case MEMBER.finishReason:
        this.finishReason = reader.text();
        break;
      case MEMBER.input:
        this.input = reader.number();
        break;
      case MEMBER.output:
        this.output = reader.number();
        break;
      case MEMBER.usageSource:
        this.usageSource = reader.text();
        break;
      case MEMBER.endUser:
        this.endUser = reader.text();
        break;
      case MEMBER.session:
        this.session = reader.text();
        break;
      case MEMBER.stream:
        this.stream = reader.flag();
        break;
      case MEMBER.error:
        this.error = reader.text();
        break;
      case MEMBER.cacheRead:
        this.cacheRead = reader.number();
        break;
      case MEMBER.cacheWrite5m:
        this.cacheWrite5m = reader.number();
        break;
      case MEMBER.cacheWrite1h:
        this.cacheWrite1h = reader.number();
        break;
      case MEMBER.reasoning:
        this.reasoning = reader.number();
        break;
      case MEMBER.extras:
        this.extras = reader.json('object') as MediaAndToolUsage;
        break;
      case MEMBER.usageFlags:
        this.usageFlags = reader.json('list') as UsageFlag[];
        break;
      case MEMBER.priceVersion:
        this.priceVersion = reader.text();
        break;
      case MEMBER.cost:
        this.cost = reader.decimal();
        break;
      case MEMBER.ttfbMs:
        this.ttfbMs = reader.number();
        break;
      case MEMBER.durationMs:
        this.durationMs = reader.number();
        break;
      case MEMBER.reason:
        this.reason = reader.json('object') as Reason;
        break;
      case MEMBER.attempt:
        this.attempts.push(readAttempt(reader));
        break;
      case MEMBER.held:
        this.held = reader.amount();
        break;
      case MEMBER.prepaid:
        this.prepaid = reader.flag();
        break;
      case MEMBER.posted:
        this.posted = reader.amount();
        break;
      case MEMBER.released:
        this.released = reader.amount();
        break;
      case MEMBER.writtenOff:
        this.writtenOff = reader.amount();
        break;
      case MEMBER.endedMs:
        this.endedMs = reader.number();
        break;
      case MEMBER.nth:
        this.nth = reader.number();
        break;
      case MEMBER.movementOf:
        this.of = reader.number();
        break;
      case MEMBER.amount:
        this.amount = reader.amount();
        break;
      case MEMBER.note:
        this.note = reader.text();
        break;
      case MEMBER.audit:
        this.audit = readAudit(reader);
        break;
      case MEMBER.traceId:
        this.traceId = reader.text();
        break;
      case MEMBER.stored:
        this.stored = reader.json('object') as StoredByCall;
        break;
      case MEMBER.cachedFrom:
        this.cachedFrom = reader.text();
        break;
      case MEMBER.masked:
        this.masked = reader.json('object') as CallRecord['masked'];
        break;
      case MEMBER.job:
        this.job = reader.json('object') as DetachedJob;
        break;
      default:
        reader.skip();
    }
  }

  /** @throws JournalFormatError where the frame lacks the member */
  given<Value>(value: Value | null, name: keyof typeof MEMBER): Value {
    if (value !== null) return value;
    return this.#reader.fail(`lacks its member ${MEMBER[name]} (${name})`);
  }

  draft(): CallDraft {
    return {
      request_id: this.given(this.callId, 'callId'),
      at_ms: this.given(this.atMs, 'atMs'),
      account: this.given(this.account, 'account'),
      workspace: this.given(this.workspace, 'workspace'),
      key_id: this.given(this.keyId, 'keyId'),
      key_name: this.given(this.keyName, 'keyName'),
      end_user: this.endUser,
      session: this.session,
      trace_id: this.traceId,
      protocol: this.given(this.protocol, 'protocol') as ClientProtocolName,
      model: this.model,
      served_model: this.servedModel,
      provider: this.provider,
      stream: this.stream,
      price_version: this.priceVersion,
    };
  }

  /** Written out, not spread from `draft`: members keep the order in which records are printed. */
  record(): CallRecord {
    return {
      request_id: this.given(this.callId, 'callId'),
      at_ms: this.given(this.atMs, 'atMs'),
      account: this.given(this.account, 'account'),
      workspace: this.given(this.workspace, 'workspace'),
      key_id: this.given(this.keyId, 'keyId'),
      key_name: this.given(this.keyName, 'keyName'),
      end_user: this.endUser,
      session: this.session,
      trace_id: this.traceId,
      protocol: this.given(this.protocol, 'protocol') as ClientProtocolName,
      model: this.model,
      served_model: this.servedModel,
      provider: this.provider,
      stream: this.stream,
      status: this.status,
      error: this.error,
      reason: this.reason,
      finish_reason: this.finishReason,
      usage: this.usage(),
      usage_source: this.given(this.usageSource, 'usageSource') as UsageSource,
      usage_flags: this.usageFlags,
      ...(this.cachedFrom !== null && { cached_from: this.cachedFrom }),
      ...(this.masked != null && { masked: this.masked }),
      price_version: this.priceVersion,
      cost_nano_usd: this.cost,
      ttfb_ms: this.ttfbMs,
      duration_ms: this.durationMs,
      attempts: this.attempts,
    };
  }

  usage(): Usage {
    const { input, output, reasoning, extras } = this;
    const { cacheRead: cache_read, cacheWrite5m: cache_write_5m, cacheWrite1h: cache_write_1h } = this;
    if (extras === null) return { input, cache_read, cache_write_5m, cache_write_1h, output, reasoning };
    return { input, cache_read, cache_write_5m, cache_write_1h, output, reasoning, extras };
  }

  /** Of a checkpoint, whose target is absent where it is the hold's. */
  target(): Pick<Checkpoint, 'target'> {
    const { provider, servedModel: served_model, priceVersion: price_version } = this;
    if (provider === null || served_model === null || price_version === null) return {};
    return { target: { provider, served_model, price_version } };
  }

  movementOf(): 'topup' | 'correct' {
    const { of } = this;
    return of === 1 ? 'topup' : of === 2 ? 'correct' : this.#reader.fail(`is a movement of kind ${of}`);
  }
}
