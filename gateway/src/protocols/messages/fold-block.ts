/** Owns putting one content block of a stream together. What no delta touched stays as it was written. */
import { CallFailure } from '../../errors/call-failure.ts';
import { RawJson, type WritableJson, writeJson } from '../../wire/json-writer.ts';
import { memberText } from '../exact-json.ts';
import { type JsonObject, parseObject } from '../json.ts';
import { type JsonDraft, mergeDelta, startDraft } from '../merge-delta.ts';
import { keepWholeMembers } from './cut-arguments.ts';

const SAID: ReadonlySet<string> = new Set();

export class FoldedBlock {
  readonly #json: string;
  readonly #draft: JsonDraft;
  #isTouched = false;
  #input = '';
  readonly #citations: RawJson[] = [];

  /** `json` is the block as it was written. */
  constructor(block: JsonObject, json: string) {
    this.#json = json;
    this.#draft = Object.assign(startDraft(), block);
  }

  /** `json` is the delta as it was written. */
  push(delta: JsonObject, json: string): void {
    this.#isTouched = true;
    const { type, ...members } = delta;
    if (type === 'input_json_delta')
      this.#input += typeof members.partial_json === 'string' ? members.partial_json : '';
    else if (type === 'citations_delta') this.#citations.push(new RawJson(memberText(json, 'citation') ?? 'null'));
    else if (type === 'signature_delta') Object.assign(this.#draft, members);
    else mergeDelta(this.#draft, members, SAID);
  }

  /**
   * JSON of the block. `cut`: arguments may have broken off; what came whole of them is kept.
   * @throws CallFailure `upstream_nonsense` where they are no JSON object all the same.
   */
  finish(cut: boolean): string {
    if (!this.#isTouched) return this.#json;
    const members = this.#draft as { readonly [member: string]: WritableJson };
    const before = this.#citations.length === 0 ? null : memberText(this.#json, 'citations');
    const earlier = before === null || before === 'null' || before === '[]' ? [] : [new RawJson(before.slice(1, -1))];
    const citations = this.#citations.length === 0 ? {} : { citations: [...earlier, ...this.#citations] };
    return writeJson({ ...members, ...citations, ...this.#finishInput(cut) });
  }

  #finishInput(cut: boolean): { readonly input?: RawJson } {
    if (this.#input.trim() === '') {
      const input = memberText(this.#json, 'input');
      return input === null ? {} : { input: new RawJson(input) };
    }
    if (parseObject(this.#input) !== null) return { input: new RawJson(this.#input) };
    if (cut) return { input: new RawJson(keepWholeMembers(this.#input)) };
    throw new CallFailure(
      'upstream_nonsense',
      'the model provider sent an answer that is none: the arguments of a tool call are not a JSON object',
    );
  }
}
