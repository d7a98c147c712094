/**
 * Owns putting a messages stream together as the message in one piece: all blocks, known here or not, with what is in them as it
 * was written. Judges no record: an observer does. Wire reference B.5 to B.7.
 */
import { CallFailure } from '../../errors/call-failure.ts';
import type { Usage } from '../../generation/usage.ts';
import { RawJson, type WritableJson, writeJson } from '../../wire/json-writer.ts';
import { dataText, type SseRecord } from '../../wire/sse-record.ts';
import { elementTexts, memberText } from '../exact-json.ts';
import { asArray, asObject, type JsonObject, parseObject } from '../json.ts';
import type { AnswerFold } from '../protocol.ts';
import { FoldedBlock } from './fold-block.ts';

/** Reasons by which upstream itself cut the answer, in the middle of a call perhaps. */
const CUT_REASONS: ReadonlySet<unknown> = new Set(['max_tokens', 'model_context_window_exceeded', 'refusal']);

/** A message names itself: it needs no id of ours. */
export function startFold(): AnswerFold {
  return new MessagesFold();
}

class MessagesFold implements AnswerFold {
  #message: JsonObject | null = null;
  /** In the order in which they began. */
  readonly #blocks: FoldedBlock[] = [];
  readonly #open = new Map<unknown, FoldedBlock>();
  #usage: JsonObject = {};

  push(record: SseRecord): void {
    const json = dataText(record);
    const event = parseObject(json);
    switch (event?.type) {
      case 'message_start':
        this.#start(event, json);
        return;
      case 'content_block_start': {
        const block = this.#begin(event.content_block, memberText(json, 'content_block'));
        if (block !== null) this.#open.set(event.index, block);
        return;
      }
      case 'content_block_delta':
        this.#open.get(event.index)?.push(asObject(event.delta) ?? {}, memberText(json, 'delta') ?? '{}');
        return;
      case 'content_block_stop':
        this.#open.delete(event.index);
        return;
      case 'message_delta':
        this.#change(event);
    }
  }

  finish(cut: Usage | null): string {
    const message = this.#message;
    if (message === null) {
      throw new CallFailure('upstream_nonsense', 'the model provider sent an answer that is none: it never began');
    }
    const stop = cut === null ? {} : { stop_reason: message.stop_reason ?? 'max_tokens' };
    const counted = cut === null ? {} : { input_tokens: cut.input, output_tokens: cut.output };
    const isCut = cut !== null || CUT_REASONS.has(message.stop_reason);
    return writeJson({
      ...(message as { readonly [member: string]: WritableJson }),
      content: this.#blocks.map((block) => new RawJson(block.finish(isCut))),
      ...(stop as { readonly [member: string]: WritableJson }),
      usage: { ...(this.#usage as { readonly [member: string]: WritableJson }), ...counted },
    });
  }

  #start(event: JsonObject, json: string): void {
    const message = asObject(event.message);
    if (message === null || this.#message !== null) return;
    this.#message = message;
    this.#count(message.usage);
    const texts = elementTexts(memberText(memberText(json, 'message') ?? '', 'content') ?? '');
    for (const [index, block] of asArray(message.content).entries()) this.#begin(block, texts[index] ?? null);
  }

  #begin(value: unknown, json: string | null): FoldedBlock | null {
    const content = asObject(value);
    if (content === null || json === null) return null;
    const block = new FoldedBlock(content, json);
    this.#blocks.push(block);
    return block;
  }

  /** What it says of the message replaces what its start said. */
  #change({ type: _, delta, usage, ...others }: JsonObject): void {
    if (this.#message === null) return;
    this.#message = { ...this.#message, ...others, ...asObject(delta) };
    this.#count(usage);
  }

  /** Cumulative: a later number replaces an earlier one. */
  #count(usage: unknown): void {
    const told = Object.entries(asObject(usage) ?? {}).filter(
      ([name, value]) => value !== null || !(name in this.#usage),
    );
    this.#usage = { ...this.#usage, ...Object.fromEntries(told) };
  }
}
