/**
 * Checks the values of frames before they are appended: the read model cannot refuse what the journal has, so nothing
 * may be appended that its tables cannot store.
 */
import type { Usage } from '../../generation/usage.ts';
import type { CallDraft, Checkpoint, Movement, Settlement } from '../ports/ledger.ts';
import type { AttemptRecord, CallRecord } from '../ports/records.ts';
import { ConstraintViolation } from '../ports/store-errors.ts';

/** @throws ConstraintViolation */
export function checkDraft({ request_id, at_ms }: CallDraft): void {
  checkText('request_id', request_id);
  checkInteger(request_id, 'at_ms', at_ms);
}

/** @throws ConstraintViolation */
export function checkCheckpoint({ call_id, usage, cost }: Checkpoint): void {
  checkUsage(call_id, usage);
  if (cost < 0n || !isInt64(cost)) refuse(`The checkpoint of call ${call_id}: found cost ${cost}, expected 0 or more.`);
}

/** @throws ConstraintViolation */
export function checkSettlement({ record, posted, released, writtenOff }: Settlement): void {
  checkNumbers(record);
  const { request_id, cost_nano_usd } = record;
  if (posted < 0n || released < 0n || writtenOff < 0n)
    refuse(
      `The settlement of call ${request_id}: found posted ${posted}, released ${released} and written off ${writtenOff}, expected 0 or more of each.`,
    );
  const cost = posted + writtenOff;
  if (!isInt64(cost)) refuse(`The settlement of call ${request_id}: found the cost ${cost}, expected 64 bits.`);
  if ((cost_nano_usd ?? '0') !== cost.toString())
    refuse(
      `The settlement of call ${request_id}: found posted ${posted} and written off ${writtenOff}, expected the sum ${cost_nano_usd ?? '0'}, which is the record's cost_nano_usd.`,
    );
}

/** Checks the record of a call that never held anything. @throws ConstraintViolation */
export function checkUnheld(record: CallRecord): void {
  checkText('request_id', record.request_id);
  checkNumbers(record);
  const { request_id, cost_nano_usd } = record;
  if (cost_nano_usd !== null && cost_nano_usd !== '0' && !isAmount(cost_nano_usd))
    refuse(
      `The record of call ${request_id}: found cost_nano_usd ${cost_nano_usd}, expected an integer within 64 bits.`,
    );
}

/** @throws ConstraintViolation */
export function checkMovement(kind: 'topup' | 'correct', { id, account, note, at_ms }: Movement): void {
  checkText(`the ${kind}'s id`, id);
  checkText('account', account);
  checkText('note', note ?? '');
  checkInteger(id, 'at_ms', at_ms);
}

function checkNumbers(record: CallRecord): void {
  const { request_id, at_ms, status, ttfb_ms, duration_ms, usage, attempts } = record;
  checkInteger(request_id, 'at_ms', at_ms);
  checkInteger(request_id, 'status', status);
  if (ttfb_ms !== null && !Number.isFinite(ttfb_ms)) refuse(`${request_id}: found ttfb_ms ${ttfb_ms}.`);
  if (!Number.isFinite(duration_ms)) refuse(`${request_id}: found duration_ms ${duration_ms}, expected a number.`);
  checkUsage(request_id, usage);
  for (let index = 0; index < attempts.length; index++) checkAttempt(request_id, attempts[index] as AttemptRecord);
}

function checkAttempt(call_id: string, { billed, usage, cost_nano_usd: cost = null }: AttemptRecord): void {
  if (billed === undefined) return;
  if (usage !== undefined) checkUsage(call_id, usage);
  if (cost !== null && (!isAmount(cost) || cost.startsWith('-')))
    refuse(`${call_id}: found an attempt of cost_nano_usd ${cost}, expected an integer of 0 or more within 64 bits.`);
}

function checkUsage(call_id: string, usage: Usage): void {
  checkInteger(call_id, 'input', usage.input);
  checkInteger(call_id, 'cache_read', usage.cache_read);
  checkInteger(call_id, 'cache_write_5m', usage.cache_write_5m);
  checkInteger(call_id, 'cache_write_1h', usage.cache_write_1h);
  checkInteger(call_id, 'output', usage.output);
  checkInteger(call_id, 'reasoning', usage.reasoning);
}

function checkInteger(of: string, name: string, value: number): void {
  if (!Number.isSafeInteger(value)) refuse(`${of}: found ${name} ${value}, expected an integer.`);
}

/** Text that identifies something must come back unchanged: the journal replaces unpaired surrogates. */
function checkText(name: string, text: string): void {
  if (!text.isWellFormed())
    refuse(`${name}: found half of a surrogate pair in ${JSON.stringify(text)}, expected well-formed text.`);
}

function isAmount(text: string): boolean {
  return /^-?\d{1,19}$/.test(text) && isInt64(BigInt(text));
}

function isInt64(amount: bigint): boolean {
  return BigInt.asIntN(64, amount) === amount;
}

function refuse(problem: string): never {
  throw new ConstraintViolation('invalid', problem);
}
