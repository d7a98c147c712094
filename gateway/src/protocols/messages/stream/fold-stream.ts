/**
 * Folds a messages stream into one message with all blocks, known or unknown, and their contents as written. An
 * observer validates the records. Wire reference B.5 to B.7.
 */
import { CallFailure } from '../../../errors/call-failure.ts';
import { dataText, type StreamRecord } from '../../../framing/framing.ts';
import type { Usage } from '../../../generation/usage.ts';
import { RawJson, type WritableJson, writeJson } from '../../../wire/json-writer.ts';
import { keepWholeMembers } from '../../answer/call-arguments.ts';
import { type JsonDraft, mergeDelta, startDraft } from '../../answer/merge-delta.ts';
import { elementTexts, memberText } from '../../exact-json.ts';
import { asArray, asObject, type JsonObject, parseObject } from '../../json.ts';
import type { AnswerFold } from '../../upstream-protocol.ts';

/** Reasons by which upstream itself cut the response, perhaps in the middle of a call. */
const CUT_REASONS: ReadonlySet<unknown> = new Set(['max_tokens', 'model_context_window_exceeded', 'refusal']);

/** A message has its own id and needs none from us. */
export function startFold(): AnswerFold {
  return new MessagesFold();
}

class MessagesFold implements AnswerFold {
  #message: JsonDraft | null = null;
  /** In the order in which they began. */
  readonly #blocks: FoldedBlock[] = [];
  readonly #open = new Map<unknown, FoldedBlock>();
  readonly #usage = startDraft();

  push(record: StreamRecord): void {
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
      throw new CallFailure('upstream_malformed', 'the model provider sent an invalid answer: it never began');
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
    this.#message = Object.assign(startDraft(), message);
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

  /** Members of a `message_delta` replace those of the message start. */
  #change({ type: _, delta, usage, ...others }: JsonObject): void {
    if (this.#message === null) return;
    Object.assign(this.#message, others, asObject(delta));
    this.#count(usage);
  }

  /** Counters are cumulative: a later number replaces an earlier one. */
  #count(usage: unknown): void {
    for (const [name, value] of Object.entries(asObject(usage) ?? {})) {
      if (value !== null || !(name in this.#usage)) this.#usage[name] = value;
    }
  }
}

/** Builds one content block. Content that no delta changed stays as written. */
class FoldedBlock {
  readonly #json: string;
  readonly #draft: JsonDraft;
  #isTouched = false;
  #input = '';
  readonly #citations: RawJson[] = [];

  /** `json` is the block as written. */
  constructor(block: JsonObject, json: string) {
    this.#json = json;
    this.#draft = Object.assign(startDraft(), block);
  }

  /** `json` is the delta as written. */
  push(delta: JsonObject, json: string): void {
    this.#isTouched = true;
    const { type, ...members } = delta;
    if (type === 'input_json_delta')
      this.#input += typeof members.partial_json === 'string' ? members.partial_json : '';
    else if (type === 'citations_delta') this.#citations.push(new RawJson(memberText(json, 'citation') ?? 'null'));
    else if (type === 'signature_delta') Object.assign(this.#draft, members);
    else mergeDelta(this.#draft, members);
  }

  /**
   * JSON of the block. `cut`: arguments may be incomplete; their complete members are kept.
   * @throws CallFailure `upstream_malformed` if they are still not a JSON object.
   */
  finish(cut: boolean): string {
    if (!this.#isTouched) return this.#json;
    const members = this.#draft as { readonly [member: string]: WritableJson };
    return writeJson({ ...members, ...this.#finishCitations(), ...this.#finishInput(cut) });
  }

  #finishCitations(): { readonly citations?: readonly RawJson[] } {
    if (this.#citations.length === 0) return {};
    const earlier = elementTexts(memberText(this.#json, 'citations') ?? '').map((text) => new RawJson(text));
    return { citations: [...earlier, ...this.#citations] };
  }

  #finishInput(cut: boolean): { readonly input?: RawJson } {
    if (this.#input.trim() === '') {
      const input = memberText(this.#json, 'input');
      return input === null ? {} : { input: new RawJson(input) };
    }
    if (parseObject(this.#input) !== null) return { input: new RawJson(this.#input) };
    if (cut) return { input: new RawJson(keepWholeMembers(this.#input)) };
    throw new CallFailure(
      'upstream_malformed',
      'the model provider sent an invalid answer: the arguments of a tool call are not a JSON object',
    );
  }
}
