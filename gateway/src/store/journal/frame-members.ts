/**
 * Declares the numbers of the journal's frame format. A frame is `kind u8, length varint, members`; a member is
 * `tag varint = number << 3 | wire type`, then its value. The members of a frame ascend by number; only attempts repeat.
 * Members that are null, zero, false or empty are left out. Numbers are never reused.
 */

/** 7 to 10 are reserved: idem, grant, return, moved; 12, own, became a member of the end. A new kind raises the stream's format version. */
export const KIND = { hold: 1, extend: 2, end: 3, refused: 4, checkpoint: 5, movement: 6, detach: 11 } as const;

export const WIRE = {
  /** An unsigned integer up to 2^53 - 1. */
  varint: 0,
  /** 8 bytes, little-endian: an amount (signed integer), or a number that is no varint (IEEE 754 double). */
  fixed64: 1,
  /** A varint of the length, then as many bytes of UTF-8. For a number: length 0, and the number is null. */
  text: 2,
  /** As `text`; takes the next index of the block's dictionary. */
  newWord: 3,
  /** A varint: the index of an earlier `newWord`. */
  knownWord: 4,
  /** A varint of the length, then as many bytes of members. */
  nested: 5,
} as const;

/** Of every frame. Numbers up to 15 take one byte: those that nearly every request has. */
export const MEMBER = {
  callId: 1,
  atMs: 2,
  account: 3,
  workspace: 4,
  keyId: 5,
  keyName: 6,
  protocol: 7,
  model: 8,
  servedModel: 9,
  provider: 10,
  status: 11,
  finishReason: 12,
  input: 13,
  output: 14,
  usageSource: 15,
  endUser: 16,
  session: 17,
  stream: 18,
  error: 19,
  cacheRead: 20,
  cacheWrite5m: 21,
  cacheWrite1h: 22,
  reasoning: 23,
  /** JSON text, as `usageFlags` and `reason`. */
  extras: 24,
  usageFlags: 25,
  priceVersion: 26,
  /** An amount, as all amounts in nano-USD. */
  cost: 27,
  ttfbMs: 28,
  durationMs: 29,
  reason: 30,
  attempt: 31,
  /** Of a hold, or of the hold within an end, where it is present even if it is 0. */
  held: 32,
  prepaid: 33,
  posted: 34,
  released: 35,
  writtenOff: 36,
  /** The moment of an end; `atMs` is the call's arrival. */
  endedMs: 37,
  nth: 38,
  /** 1 top-up, 2 correction. */
  movementOf: 39,
  /** The amount of an extension or movement. */
  amount: 40,
  note: 41,
  audit: 42,
  /** Of a hold, an end or a refusal. */
  traceId: 43,
  /** Of an end or a detachment: what the call left at its provider, as JSON text. */
  stored: 44,
  /** Of a detachment, as JSON text. */
  job: 45,
  /** Of an end. */
  cachedFrom: 46,
  /** Of an end or a refusal: JSON text. */
  masked: 47,
} as const;

/** Of an attempt. Every member from `cost` on may be absent. */
export const ATTEMPT = {
  provider: 1,
  model: 2,
  status: 3,
  error: 4,
  startMs: 5,
  connectMs: 6,
  ttfbMs: 7,
  ttftMs: 8,
  durationMs: 9,
  /** An amount; absent with `billed`: no price. */
  cost: 10,
  /** Counts from 1 in `BILLED`, as `phase` in `ATTEMPT_PHASES`. */
  billed: 11,
  n: 12,
  target: 13,
  credential: 14,
  format: 15,
  why: 16,
  class: 17,
  phase: 18,
  waitMs: 19,
  exchanges: 20,
  /** JSON text. */
  usage: 21,
  priceVersion: 22,
  upstreamRequestId: 23,
  door: 24,
  region: 25,
  message: 26,
} as const;

/** Of the audit entry of a movement. `before` and `after` are JSON text. */
export const AUDIT = {
  atMs: 1,
  account: 2,
  workspace: 3,
  actorKind: 4,
  actorId: 5,
  actorName: 6,
  address: 7,
  act: 8,
  subjectKind: 9,
  subjectId: 10,
  before: 11,
  after: 12,
} as const;

/** A larger frame is refused. */
export const FRAME_BYTES_MAX = 1024 * 1024;
