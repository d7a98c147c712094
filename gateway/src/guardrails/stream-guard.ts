/**
 * Applies a workspace's rules to the stream that a client gets. Records leave in their order, each once its own texts are
 * decided; none is added and none is dropped, so the stream keeps its grammar. With a hook the whole answer is held.
 */
import type { CallFailure } from '../errors/call-failure.ts';
import type { StreamRecord } from '../framing/framing.ts';
import { rawBytes } from '../framing/framing.ts';
import { SSE } from '../framing/sse-decoder.ts';
import type { ClientProtocolName } from '../protocols/names.ts';
import { type JsonOutline, OutlineFull } from '../wire/json-node.ts';
import { scanJson } from '../wire/json-scan.ts';
import { type RecordTexts, textsOfRecord } from './format-texts.ts';
import { cannotCheck, failureOfFinding } from './guard-failures.ts';
import type { HookSubject } from './hook.ts';
import { JsonPieces } from './json-pieces.ts';
import { type JsonText, spliceTexts, type TextEdit } from './json-texts.ts';
import { countMask, type MaskCounts, type SideGuard } from './side-guard.ts';
import { type Piece, TextChannel } from './text-channel.ts';
import type { TextRules } from './text-rules.ts';

/** How much is held while a text is not decided, or for a hook. */
const HELD_BYTES_MAX = 4 * 1024 * 1024;
/** A comment has three bytes, and takes hundreds of memory. */
const HELD_RECORDS_MAX = 100_000;
/** Texts that are not over. Real answers have a few. */
const CHANNELS_MAX = 1_000;

const TERMINAL: ReadonlySet<string> = new Set(['response.completed', 'response.incomplete']);

interface HeldText {
  readonly text: JsonText;
  readonly piece: Piece;
  /** Null: the text is whole. */
  readonly channel: string | null;
  readonly masks: boolean;
}

/** A record that waits for its texts. */
interface Held {
  readonly record: StreamRecord;
  /** Null: it has no JSON. */
  readonly outline: JsonOutline | null;
  readonly texts: readonly HeldText[];
  readonly spelled: RecordTexts['spelled'];
}

interface Channel {
  readonly channel: TextChannel;
  /** For pieces of JSON, which are never changed: they are searched decoded. */
  readonly decoder: JsonPieces;
  readonly masks: boolean;
}

export interface StreamGuardParts {
  readonly guard: SideGuard;
  readonly protocol: ClientProtocolName;
  readonly subject: HookSubject;
  readonly counts: MaskCounts;
  readonly recordBytesMax: number;
  /** Gets the last event of a response, as the client gets it. */
  onTerminal(record: Uint8Array): void;
  /** Gets what the client may get. The bytes are valid for this turn only. */
  put(bytes: Uint8Array): void;
}

export class StreamGuard {
  readonly #parts: StreamGuardParts;
  readonly #decoder;
  readonly #channels = new Map<string, Channel>();
  #held: Held[] = [];
  #heldBytes = 0;
  #failure: CallFailure | null = null;
  /** Nothing is checked any more: a rule could not, and lets it pass. */
  #isOpen = false;

  constructor(parts: StreamGuardParts) {
    this.#parts = parts;
    this.#decoder = SSE.startDecoder(parts.recordBytesMax, null);
  }

  /** Nothing leaves before the end. */
  get waitsForHooks(): boolean {
    return this.#parts.guard.hooks.length > 0 && !this.#isOpen;
  }

  /** Takes bytes of the stream. Returns why it may not go on; null: it may. Nothing is put after a failure. */
  feed(bytes: Uint8Array): CallFailure | null {
    if (this.#failure !== null) return this.#failure;
    if (this.#isOpen) this.#parts.put(bytes);
    else {
      this.#decoder.feed(bytes, (output) => {
        if (this.#failure !== null) return;
        if (output.kind === 'problem') this.#giveUp('an event of it is too large or damaged');
        else if (output.kind !== 'skimmed') this.#take(output);
      });
    }
    return this.#failure;
  }

  /** The stream is over, whole or cut: releases what is held. A promise where a hook is asked. */
  finish(): CallFailure | null | Promise<CallFailure | null> {
    if (this.#failure !== null || this.#isOpen) return this.#failure;
    for (const output of this.#decoder.finish()) if (output.kind !== 'problem') this.#take(output);
    this.#decide(() => true);
    if (this.#failure !== null) return this.#failure;
    if (this.#parts.guard.hooks.length > 0) return this.#finishByHooks();
    this.#release();
    return null;
  }

  #take(record: StreamRecord): void {
    if (this.#isOpen) {
      this.#parts.put(rawBytes(record));
      return;
    }
    if (record.kind !== 'event') {
      this.#hold(record, null, null);
      return;
    }
    const { dataBytes, dataStart, dataEnd } = record;
    const data = Buffer.from(dataBytes.subarray(dataStart, dataEnd));
    const outline = scanJson(data);
    if (!outline.ok) {
      this.#hold(record, null, null);
      if (data.toString().trim() === '[DONE]') this.#decide(() => true);
      else this.#giveUp('an event of it is not JSON');
      return;
    }
    try {
      const texts = textsOfRecord(this.#parts.protocol, outline.root);
      this.#hold(record, outline, texts);
      const { ends } = texts;
      if (ends.length > 0) this.#decide((name) => ends.some((end) => name.startsWith(end)));
    } catch (error) {
      if (!(error instanceof OutlineFull)) throw error;
      this.#giveUp('an event of it has too many values');
    }
  }

  #hold(record: StreamRecord, outline: JsonOutline | null, found: RecordTexts | null): void {
    const texts = found === null ? [] : found.texts.flatMap((one) => this.#enter(one) ?? []);
    const copied = copyOf(record);
    this.#held.push({ record: copied, outline, texts, spelled: found?.spelled ?? [] });
    this.#heldBytes += copied.end;
    if (this.#failure !== null) return;
    if (this.#parts.guard.hooks.length === 0) this.#release();
    if (this.#heldBytes > HELD_BYTES_MAX) this.#giveUp(`more than ${HELD_BYTES_MAX} bytes of it had to wait`);
    else if (this.#held.length > HELD_RECORDS_MAX)
      this.#giveUp(`more than ${HELD_RECORDS_MAX} events of it had to wait`);
    else if (this.#channels.size > CHANNELS_MAX)
      this.#giveUp(`more than ${CHANNELS_MAX} texts of it are open at a time`);
  }

  #enter({ text, channel, isJson }: RecordTexts['texts'][number]): HeldText | null {
    const masks = !text.isCall && !text.isSigned;
    const rules = this.#rulesOf(masks);
    if (rules.isEmpty && this.#parts.guard.hooks.length === 0) return null;
    if (channel === null) {
      const piece: Piece = { text: text.text, shown: null };
      this.#searchWhole(rules, piece);
      return { text, piece, channel, masks };
    }
    let known = this.#channels.get(channel);
    if (known === undefined || known.masks !== masks) {
      known = { channel: this.#open(rules), decoder: new JsonPieces(), masks };
      this.#channels.set(channel, known);
    }
    const piece: Piece = { text: isJson ? known.decoder.push(text.text) : text.text, shown: null };
    known.channel.add(piece);
    this.#fail(known.channel.decide(false));
    return { text, piece, channel, masks };
  }

  #rulesOf(masks: boolean): TextRules {
    const { masking, blocking } = this.#parts.guard;
    return masks ? masking : blocking;
  }

  #open(rules: TextRules): TextChannel {
    return new TextChannel(rules, ({ rule }) => countMask(this.#parts.counts, rule.id));
  }

  /** A whole text repeats what deltas had, as a rule, so its masks are not counted again. */
  #searchWhole(rules: TextRules, piece: Piece): void {
    const channel = new TextChannel(rules, () => {});
    channel.add(piece);
    this.#fail(channel.decide(true));
  }

  #fail(finding: Parameters<typeof failureOfFinding>[0] | null): void {
    if (finding !== null) this.#failure ??= failureOfFinding(finding, this.#parts.guard.side);
  }

  /** The channels of these names are over. */
  #decide(isOver: (name: string) => boolean): void {
    for (const [name, { channel }] of this.#channels) {
      if (!isOver(name)) continue;
      this.#fail(channel.decide(true));
      this.#channels.delete(name);
    }
    if (this.#failure === null && this.#parts.guard.hooks.length === 0) this.#release();
  }

  #release(): void {
    let count = 0;
    for (const held of this.#held) {
      if (held.texts.some(({ piece }) => piece.shown === null)) break;
      this.#heldBytes -= held.record.end;
      count += 1;
      const bytes = render(held);
      if (TERMINAL.has(held.record.event)) this.#parts.onTerminal(bytes);
      this.#parts.put(bytes);
    }
    if (count > 0) this.#held.splice(0, count);
  }

  /** The rules could not check the stream: it ends, or passes as it is where all of them fail open. */
  #giveUp(why: string): void {
    if (this.#failure !== null || this.#isOpen) return;
    const rule = this.#parts.guard.closedRule;
    if (rule !== null) {
      this.#failure = cannotCheck(rule, this.#parts.guard.side, why);
      return;
    }
    this.#isOpen = true;
    for (const { piece } of this.#held.flatMap(({ texts }) => texts)) piece.shown ??= piece.text;
    this.#release();
  }

  async #finishByHooks(): Promise<CallFailure | null> {
    const { guard, subject, counts } = this.#parts;
    const add = (text: string, masks: boolean) => {
      texts.add(text);
      if (masks) masked.add(text);
    };
    /** Whole texts, and those of channels put together. */
    const channels = new Map<string, HeldText[]>();
    const texts = new Set<string>();
    /** Those that a hook may replace; others it may only block. */
    const masked = new Set<string>();
    for (const held of this.#held.flatMap((one) => one.texts)) {
      if (held.channel === null) add(held.piece.shown ?? '', held.masks);
      else {
        const pieces = channels.get(held.channel);
        if (pieces === undefined) channels.set(held.channel, [held]);
        else pieces.push(held);
      }
    }
    const joined = new Map(
      [...channels].map(([name, pieces]) => [name, pieces.map((one) => one.piece.shown).join('')]),
    );
    for (const [name, text] of joined) add(text, channels.get(name)?.[0]?.masks === true);
    texts.delete('');
    const asked = [...texts];
    const replaced = new Map<string, string>();
    try {
      const shown =
        asked.length === 0
          ? []
          : await guard.askHooks(
              asked.map((text) => ({ text, masks: masked.has(text) })),
              subject,
              counts,
            );
      for (const [at, text] of asked.entries()) replaced.set(text, shown[at] ?? text);
    } catch (failure) {
      this.#failure = failure as CallFailure;
      return this.#failure;
    }
    for (const [name, pieces] of channels) {
      const before = joined.get(name) ?? '';
      const after = replaced.get(before) ?? before;
      if (after === before || pieces[0]?.masks !== true) continue;
      for (const [at, { piece }] of pieces.entries()) piece.shown = at === 0 ? after : '';
    }
    for (const { channel, masks, piece } of this.#held.flatMap((one) => one.texts)) {
      if (channel === null && masks) piece.shown = replaced.get(piece.shown ?? '') ?? piece.shown;
    }
    this.#release();
    return null;
  }
}

/** A held record outlives the read that it came with. */
function copyOf(record: StreamRecord): StreamRecord {
  const bytes = Buffer.from(rawBytes(record));
  const { start, dataBytes, dataStart, dataEnd } = record;
  const place =
    dataBytes === record.bytes
      ? { dataBytes: bytes, dataStart: dataStart - start, dataEnd: dataEnd - start }
      : { dataBytes, dataStart, dataEnd };
  return { ...record, bytes, start: 0, end: bytes.length, ...place };
}

/** The record with its texts as they are shown; its own bytes where nothing changes. */
function render({ record, outline, texts, spelled }: Held): Uint8Array {
  const edits = new Map<JsonText, readonly TextEdit[]>();
  for (const { text, piece } of texts) {
    if (piece.shown !== piece.text) edits.set(text, [{ start: 0, end: piece.text.length, to: piece.shown ?? '' }]);
  }
  if (outline === null || (edits.size === 0 && spelled.length === 0)) return record.bytes;
  const data = spliceTexts(outline, edits, emptied(spelled));
  const { bytes, dataBytes, dataStart, dataEnd } = record;
  if (dataBytes === bytes) return Buffer.concat([bytes.subarray(0, dataStart), data, bytes.subarray(dataEnd)]);
  // Data of several lines.
  const event = record.event === '' ? '' : `event: ${record.event}\n`;
  const lines = Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString().split('\n');
  return Buffer.from(`${event}${lines.map((line) => `data: ${line}`).join('\n')}\n\n`);
}

/** What spells a text is left out. */
export function emptied(
  spelled: RecordTexts['spelled'],
): readonly { readonly node: RecordTexts['spelled'][number]; readonly json: string }[] {
  return spelled.map((node) => ({ node, json: node.kind === 'array' ? '[]' : 'null' }));
}
