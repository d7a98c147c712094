/**
 * Stores data that a client cannot carry and that its issuer wants back: for chat clients signed reasoning and data that
 * hosts attach to tool calls, for the others data that came after its call was sent. Each piece is stored under its tool
 * call and restored when the client replays that call. Limited in number, bytes and time, and lost at a restart. Also
 * marks unsigned reasoning with its issuer. Wire reference, C.5.
 */
import { createHash, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { GenerationEvent } from '../../generation/event.ts';
import type { Native, OpaquePart, Part, ReasoningPart, ToolCallPart } from '../../generation/part.ts';
import type { GenerationRequest, Turn } from '../../generation/request.ts';
import type { Secret } from '../../lib/secret.ts';
import { MARK_PREFIX } from '../../protocols/own-marks.ts';
import { aliasText } from '../../protocols/request/tool-names.ts';

const ENTRIES_MAX = 20_000;
const BYTES_MAX = 64 * 1024 * 1024;
const KEPT_MS = 60 * 60 * 1000;

/** The owner of the reasoning: a call with the same id but another owner does not find it. */
export interface ReasoningOwner {
  readonly workspace: string;
  /** The party that signs it (`issuerOf`). */
  readonly issuer: string;
  /** Null: every model of the issuer accepts reasoning of the others. */
  readonly model: string | null;
}

type KeptPart = ReasoningPart | OpaquePart;

interface Entry {
  readonly parts: readonly KeptPart[];
  /** Nothing precedes it in its turn. */
  readonly leads: boolean;
  readonly host_data: Native | null;
  readonly bytes: number;
  readonly untilMs: number;
}

export class KeptReasoning {
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;

  /** Stores the reasoning of an answer, each piece under the tool call that follows it. */
  keep(owner: ReasoningOwner, parts: readonly Part[], nowMs: number): void {
    let reasoning: KeptPart[] = [];
    let isFirst = true;
    let leads = true;
    for (const part of parts) {
      if (part.kind === 'reasoning') {
        if (part.signature !== null) reasoning.push(part);
        leads = isFirst;
      } else if (isReturned(part)) {
        reasoning.push(part);
      } else if (part.kind === 'tool_call') {
        const host_data = part.host_data ?? null;
        if (reasoning.length > 0 || host_data !== null) {
          this.#put(keyOf(owner, part), { parts: reasoning, leads, host_data }, nowMs);
        }
        reasoning = [];
      }
      if (part.kind !== 'reasoning' && !isReturned(part)) isFirst = false;
    }
  }

  /** The request with stored data restored; reasoning goes only into turns that have none of their own. */
  restore(owner: ReasoningOwner, request: GenerationRequest, nowMs: number): GenerationRequest {
    if (this.#entries.size === 0) return request;
    return { ...request, turns: request.turns.map((turn) => this.#restoreTurn(owner, turn, nowMs)) };
  }

  #restoreTurn(owner: ReasoningOwner, turn: Turn, nowMs: number): Turn {
    if (turn.role !== 'assistant') return turn;
    const hasOwn = turn.parts.some((part) => part.kind === 'reasoning' && part.signature !== null);
    const leading: Part[] = [];
    const others: Part[] = [];
    let found = false;
    for (const part of turn.parts) {
      const entry = part.kind === 'tool_call' ? this.#get(keyOf(owner, part), nowMs) : null;
      if (part.kind !== 'tool_call' || entry === null) {
        others.push(part);
        continue;
      }
      found = true;
      // Chat clients carry reasoning in some way, but no parts of another format.
      const missing = hasOwn ? entry.parts.filter(isReturned) : entry.parts;
      (entry.leads ? leading : others).push(...missing);
      others.push(entry.host_data === null ? part : { ...part, host_data: entry.host_data });
    }
    return found ? { ...turn, parts: [...leading, ...others] } : turn;
  }

  #get(key: string, nowMs: number): Entry | null {
    const entry = this.#entries.get(key);
    if (entry === undefined || entry.untilMs < nowMs) return null;
    return entry;
  }

  #put(key: string, kept: Pick<Entry, 'parts' | 'leads' | 'host_data'>, nowMs: number): void {
    const { parts, host_data } = kept;
    let bytes = key.length + 2 * (host_data?.json.length ?? 0);
    for (const part of parts) bytes += 2 * sizeOf(part);
    if (bytes > BYTES_MAX) return;
    this.#drop(key);
    this.#entries.set(key, { ...kept, bytes, untilMs: nowMs + KEPT_MS });
    this.#bytes += bytes;
    for (const [oldest, entry] of this.#entries) {
      if (this.#entries.size <= ENTRIES_MAX && this.#bytes <= BYTES_MAX && entry.untilMs >= nowMs) break;
      this.#drop(oldest);
    }
  }

  #drop(key: string): void {
    this.#bytes -= this.#entries.get(key)?.bytes ?? 0;
    this.#entries.delete(key);
  }
}

/** A part of another format that its issuer wants back. */
export function isReturned(part: Part): part is OpaquePart {
  return part.kind === 'opaque' && part.returns === true;
}

function sizeOf(part: KeptPart): number {
  return part.kind === 'opaque' ? part.native.json.length : part.text.length + (part.signature?.length ?? 0);
}

/**
 * Collects from events what `keep` needs of an answer, and stores it once the answer is finished. `seals`: the client
 * carries the rest sealed, so only data is stored that came when its call had begun.
 */
export function keepReasoningOf(kept: KeptReasoning, owner: ReasoningOwner, seals: boolean, nowMs: () => number) {
  const parts: Part[] = [];
  return (event: GenerationEvent): void => {
    if (seals && !isUnsealed(event, parts)) return;
    switch (event.kind) {
      case 'part_start': {
        const { opening } = event;
        if (opening.kind === 'reasoning') parts[event.part] = { ...opening, text: '', signature: null };
        else if (opening.kind === 'tool_call') parts[event.part] = { ...opening, arguments: '', cache_mark: null };
        else if (opening.kind === 'opaque') parts[event.part] = opening.part;
        else parts[event.part] = { kind: 'refusal', text: '' };
        return;
      }
      case 'text_delta':
      case 'arguments_delta':
      case 'signature':
      case 'host_data':
        extend(parts, event);
        return;
      case 'part_end':
        endCall(parts, event.part);
        return;
      case 'finish':
        kept.keep(
          owner,
          parts.filter((part) => part !== undefined),
          nowMs(),
        );
    }
  };
}

const UNSEALED: ReadonlySet<GenerationEvent['kind']> = new Set(['arguments_delta', 'part_end', 'finish']);

/** Whether the event is part of a call, or brings data of one that has begun. */
function isUnsealed(event: GenerationEvent, parts: readonly Part[]): boolean {
  if (event.kind === 'part_start') return event.opening.kind === 'tool_call';
  if (event.kind !== 'host_data') return UNSEALED.has(event.kind);
  const part = parts[event.part];
  return part?.kind === 'tool_call' && part.arguments !== '';
}

/** A call without arguments is sent as one with an empty object. */
function endCall(parts: Part[], index: number): void {
  const part = parts[index];
  if (part?.kind === 'tool_call' && part.arguments === '') parts[index] = { ...part, arguments: '{}' };
}

function extend(
  parts: Part[],
  event: Extract<GenerationEvent, { kind: 'text_delta' | 'arguments_delta' | 'signature' | 'host_data' }>,
) {
  const part = parts[event.part];
  if (part?.kind === 'tool_call' && event.kind === 'arguments_delta') {
    parts[event.part] = { ...part, arguments: part.arguments + event.text };
  } else if (part?.kind === 'tool_call' && event.kind === 'host_data') {
    parts[event.part] = { ...part, host_data: event.native };
  } else if (part?.kind === 'reasoning') {
    if (event.kind === 'text_delta') parts[event.part] = { ...part, text: part.text + event.text };
    else if (event.kind === 'signature') parts[event.part] = { ...part, signature: event.signature };
  }
}

/** The same length as the ids that a messages client sees. */
const ID_CHARS_MAX = 128;

/**
 * Clients may reformat the white space of the arguments and send ids as the gateway rewrote them; it is still the same
 * call.
 */
function keyOf({ workspace, issuer, model }: ReasoningOwner, call: ToolCallPart): string {
  const hash = createHash('sha256');
  const id = aliasText(call.id, ID_CHARS_MAX);
  for (const word of [workspace, issuer, model ?? '', id, call.name, tidy(call.arguments)])
    hash.update(`${word.length}:${word}`);
  return hash.digest('base64');
}

function tidy(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text === '' ? '{}' : text));
  } catch {
    return text;
  }
}

export interface ReasoningMark {
  /** `gw1.…` for a reasoning text of `issuer`. Never empty. */
  sign(issuer: string, text: string): string;
  /** Whether this gateway made the mark for exactly this text of this issuer. */
  isFrom(issuer: string, signature: string, text: string): boolean;
}

/** Derived from the master key, so that marks stay valid across restarts. */
export function createReasoningMark(masterKey: Secret): ReasoningMark {
  const derived = hkdfSync('sha256', Buffer.from(masterKey.reveal(), 'hex'), '', 'tollgate reasoning mark v1', 32);
  const key = Buffer.from(derived);
  const sign = (issuer: string, text: string) => {
    const hash = createHash('sha256').update(text).digest();
    return `${MARK_PREFIX}${createHmac('sha256', key).update(`${issuer}\0`).update(hash).digest('base64url')}`;
  };
  return {
    sign,
    isFrom(issuer, signature, text) {
      if (!signature.startsWith(MARK_PREFIX)) return false;
      const expected = Buffer.from(sign(issuer, text));
      const found = Buffer.from(signature);
      return found.length === expected.length && timingSafeEqual(found, expected);
    },
  };
}
