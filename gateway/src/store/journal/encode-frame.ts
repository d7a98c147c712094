/** Encodes frames of the journal into a block; `frame-members.ts` describes the format. */
import type { Usage } from '../../generation/usage.ts';
import type { NewAuditEntry } from '../ports/audit.ts';
import type { EndFrame, Frame, HoldFrame, MovementFrame } from '../ports/journal.ts';
import type { CallDraft } from '../ports/ledger.ts';
import { ATTEMPT_PHASES, type AttemptRecord, BILLED, type CallRecord } from '../ports/records.ts';
import { ConstraintViolation } from '../ports/store-errors.ts';
import type { StoredByCall } from '../ports/stored-state.ts';
import type { BlockWriter } from './block-writer.ts';
import { ATTEMPT, AUDIT, KIND, MEMBER } from './frame-members.ts';

/**
 * Adds the frame to the block. Unpaired surrogates in text become U+FFFD.
 *
 * @throws ConstraintViolation `invalid` for a frame of more than 1 MiB, a number that is not finite or that no table takes,
 * or an amount beyond 64 bits; the block is then as before.
 */
export function encodeFrame(writer: BlockWriter, frame: Frame): void {
  writer.beginFrame(KIND[frame.kind]);
  try {
    encodeMembers(writer, frame);
    writer.endFrame();
  } catch (fault) {
    writer.dropFrame();
    throw fault;
  }
}

/** Members that few records have. */
function encodeRareMembers(writer: BlockWriter, { cached_from, masked }: CallRecord): void {
  writer.writeText(MEMBER.cachedFrom, cached_from ?? null);
  if (masked !== undefined) writer.writeText(MEMBER.masked, JSON.stringify(masked));
}

function encodeMembers(writer: BlockWriter, frame: Frame): void {
  switch (frame.kind) {
    case 'end':
      encodeRecord(writer, frame.record);
      encodeEnd(writer, frame);
      writer.writeText(MEMBER.traceId, frame.record.trace_id);
      encodeStored(writer, frame.stored);
      encodeRareMembers(writer, frame.record);
      break;
    case 'hold':
      encodeHold(writer, frame);
      writer.writeText(MEMBER.traceId, frame.draft.trace_id);
      break;
    case 'refused':
      encodeRecord(writer, frame.record);
      writer.writeText(MEMBER.traceId, frame.record.trace_id);
      encodeRareMembers(writer, frame.record);
      break;
    case 'extend':
      writer.writeText(MEMBER.callId, frame.call_id);
      writer.writeNumber(MEMBER.atMs, frame.at_ms);
      writer.writeFlag(MEMBER.prepaid, frame.prepaid);
      writer.writeNumber(MEMBER.nth, frame.nth);
      writer.writeAmount(MEMBER.amount, frame.amount);
      break;
    case 'checkpoint':
      writer.writeText(MEMBER.callId, frame.call_id);
      writer.writeWord(MEMBER.servedModel, frame.target?.served_model ?? null);
      writer.writeWord(MEMBER.provider, frame.target?.provider ?? null);
      writer.writeCount(MEMBER.input, frame.usage.input);
      writer.writeCount(MEMBER.output, frame.usage.output);
      encodeRarerUsage(writer, frame.usage);
      writer.writeWord(MEMBER.priceVersion, frame.target?.price_version ?? null);
      writer.writeAmount(MEMBER.cost, frame.cost);
      break;
    case 'movement':
      encodeMovement(writer, frame);
      break;
    case 'detach':
      writer.writeText(MEMBER.callId, frame.call_id);
      writer.writeNumber(MEMBER.atMs, frame.at_ms);
      encodeStored(writer, frame.stored);
      writer.writeText(MEMBER.job, JSON.stringify(frame.job));
      break;
  }
}

/** JSON writes numbers that no table takes, and a block with one could never be applied. */
function encodeStored(writer: BlockWriter, stored: StoredByCall | undefined): void {
  if (stored === undefined) return;
  for (const count of [stored.tokens, stored.output_tokens, stored.expires_at_ms]) {
    if (!Number.isSafeInteger(count))
      throw new ConstraintViolation('invalid', `What is stored has the number ${count}.`);
  }
  writer.writeText(MEMBER.stored, JSON.stringify(stored));
}

/** The members up to the provider's name. */
function encodeCaller(writer: BlockWriter, draft: CallDraft): void {
  writer.writeText(MEMBER.callId, draft.request_id);
  writer.writeNumber(MEMBER.atMs, draft.at_ms);
  writer.writeWord(MEMBER.account, draft.account);
  writer.writeWord(MEMBER.workspace, draft.workspace);
  writer.writeWord(MEMBER.keyId, draft.key_id);
  writer.writeWord(MEMBER.keyName, draft.key_name);
  writer.writeWord(MEMBER.protocol, draft.protocol);
  writer.writeWord(MEMBER.model, draft.model);
  writer.writeWord(MEMBER.servedModel, draft.served_model);
  writer.writeWord(MEMBER.provider, draft.provider);
}

function encodeRecord(writer: BlockWriter, record: CallRecord): void {
  const { usage, usage_flags, reason, attempts } = record;
  encodeCaller(writer, record);
  writer.writeCount(MEMBER.status, record.status);
  writer.writeWord(MEMBER.finishReason, record.finish_reason);
  writer.writeCount(MEMBER.input, usage.input);
  writer.writeCount(MEMBER.output, usage.output);
  writer.writeWord(MEMBER.usageSource, record.usage_source);
  writer.writeWord(MEMBER.endUser, record.end_user);
  writer.writeText(MEMBER.session, record.session);
  writer.writeFlag(MEMBER.stream, record.stream);
  writer.writeWord(MEMBER.error, record.error);
  encodeRarerUsage(writer, usage);
  if (usage_flags !== null) writer.writeWord(MEMBER.usageFlags, JSON.stringify(usage_flags));
  writer.writeWord(MEMBER.priceVersion, record.price_version);
  writer.writeDecimal(MEMBER.cost, record.cost_nano_usd);
  writer.writeNumber(MEMBER.ttfbMs, record.ttfb_ms ?? undefined);
  writer.writeCount(MEMBER.durationMs, record.duration_ms);
  if (reason !== null) writer.writeText(MEMBER.reason, JSON.stringify(reason));
  for (let index = 0; index < attempts.length; index++) encodeAttempt(writer, attempts[index] as AttemptRecord);
}

function encodeRarerUsage(writer: BlockWriter, usage: Usage): void {
  writer.writeCount(MEMBER.cacheRead, usage.cache_read);
  writer.writeCount(MEMBER.cacheWrite5m, usage.cache_write_5m);
  writer.writeCount(MEMBER.cacheWrite1h, usage.cache_write_1h);
  writer.writeCount(MEMBER.reasoning, usage.reasoning);
  if (usage.extras !== undefined) writer.writeText(MEMBER.extras, JSON.stringify(usage.extras));
}

function encodeAttempt(writer: BlockWriter, attempt: AttemptRecord): void {
  const start = writer.beginNested(MEMBER.attempt);
  writer.writeWord(ATTEMPT.provider, attempt.provider);
  writer.writeWord(ATTEMPT.model, attempt.model);
  writer.writeNumber(ATTEMPT.status, attempt.status ?? undefined);
  writer.writeWord(ATTEMPT.error, attempt.error);
  writer.writeNumber(ATTEMPT.startMs, attempt.start_ms);
  writer.writeNumber(ATTEMPT.connectMs, attempt.connect_ms);
  writer.writeNumber(ATTEMPT.ttfbMs, attempt.ttfb_ms);
  writer.writeNumber(ATTEMPT.ttftMs, attempt.ttft_ms);
  writer.writeCount(ATTEMPT.durationMs, attempt.duration_ms);
  if (attempt.billed !== undefined) {
    writer.writeDecimal(ATTEMPT.cost, attempt.cost_nano_usd ?? null);
    writer.writeNumber(ATTEMPT.billed, BILLED.indexOf(attempt.billed) + 1);
  }
  writer.writeNumber(ATTEMPT.n, attempt.n);
  writer.writeWord(ATTEMPT.target, attempt.target ?? null);
  writer.writeWord(ATTEMPT.credential, attempt.credential ?? null);
  writer.writeWord(ATTEMPT.format, attempt.format ?? null);
  writer.writeWord(ATTEMPT.why, attempt.why ?? null);
  writer.writeWord(ATTEMPT.class, attempt.class ?? null);
  if (attempt.phase !== undefined) writer.writeNumber(ATTEMPT.phase, ATTEMPT_PHASES.indexOf(attempt.phase) + 1);
  writer.writeNumber(ATTEMPT.waitMs, attempt.wait_ms);
  writer.writeNumber(ATTEMPT.exchanges, attempt.exchanges);
  if (attempt.usage !== undefined) writer.writeText(ATTEMPT.usage, JSON.stringify(attempt.usage));
  writer.writeWord(ATTEMPT.priceVersion, attempt.price_version ?? null);
  writer.writeText(ATTEMPT.upstreamRequestId, attempt.upstream_request_id ?? null);
  writer.writeWord(ATTEMPT.door, attempt.door ?? null);
  writer.writeWord(ATTEMPT.region, attempt.region ?? null);
  writer.writeText(ATTEMPT.message, attempt.message ?? null);
  writer.endNested(start);
}

function encodeEnd(writer: BlockWriter, { hold, posted, released, writtenOff, at_ms }: EndFrame): void {
  if (hold !== null) {
    writer.writeAmount(MEMBER.held, hold.amount);
    writer.writeFlag(MEMBER.prepaid, hold.prepaid);
  }
  if (posted !== 0n) writer.writeAmount(MEMBER.posted, posted);
  if (released !== 0n) writer.writeAmount(MEMBER.released, released);
  if (writtenOff !== 0n) writer.writeAmount(MEMBER.writtenOff, writtenOff);
  writer.writeNumber(MEMBER.endedMs, at_ms);
}

function encodeHold(writer: BlockWriter, { draft, amount, prepaid }: HoldFrame): void {
  encodeCaller(writer, draft);
  writer.writeWord(MEMBER.endUser, draft.end_user);
  writer.writeText(MEMBER.session, draft.session);
  writer.writeFlag(MEMBER.stream, draft.stream);
  writer.writeWord(MEMBER.priceVersion, draft.price_version);
  writer.writeAmount(MEMBER.held, amount);
  writer.writeFlag(MEMBER.prepaid, prepaid);
}

function encodeMovement(writer: BlockWriter, { of, movement, prepaid, audit }: MovementFrame): void {
  writer.writeText(MEMBER.callId, movement.id);
  writer.writeNumber(MEMBER.atMs, movement.at_ms);
  writer.writeWord(MEMBER.account, movement.account);
  writer.writeFlag(MEMBER.prepaid, prepaid);
  writer.writeNumber(MEMBER.movementOf, of === 'topup' ? 1 : 2);
  writer.writeAmount(MEMBER.amount, movement.amount);
  writer.writeText(MEMBER.note, movement.note);
  if (audit !== null) encodeAudit(writer, audit);
}

function encodeAudit(writer: BlockWriter, entry: NewAuditEntry): void {
  const { actor, address } = entry.by;
  const start = writer.beginNested(MEMBER.audit);
  writer.writeNumber(AUDIT.atMs, entry.atMs);
  writer.writeWord(AUDIT.account, entry.account);
  writer.writeWord(AUDIT.workspace, entry.workspace);
  writer.writeWord(AUDIT.actorKind, actor.kind);
  writer.writeWord(AUDIT.actorId, actor.id);
  writer.writeWord(AUDIT.actorName, actor.name);
  writer.writeText(AUDIT.address, address);
  writer.writeWord(AUDIT.act, entry.act);
  writer.writeWord(AUDIT.subjectKind, entry.subject.kind);
  writer.writeText(AUDIT.subjectId, entry.subject.id);
  if (entry.before !== null) writer.writeText(AUDIT.before, JSON.stringify(entry.before));
  if (entry.after !== null) writer.writeText(AUDIT.after, JSON.stringify(entry.after));
  writer.endNested(start);
}
