/**
 * Owns keeping a block that only the messages format knows: a server tool's call or result, a compaction, what is new. It is
 * told whole, at its end, with what its deltas brought put in its place.
 */
import type { GenerationEvent } from '../../generation/event.ts';
import type { JsonText } from '../../generation/part.ts';
import { scanJson } from '../../wire/json-scan.ts';
import { spliceJson } from '../../wire/json-splice.ts';
import { memberText } from '../exact-json.ts';
import { asText, type JsonObject } from '../json.ts';

/** A server tool's input is code at most; more than this is no answer but an attack. */
const INPUT_CHARS_MAX = 8 * 1024 * 1024;
const NONE: readonly GenerationEvent[] = [];
const SCAN_LIMITS = { depthMax: 512, keysPerObjectMax: 1_000_000, outlineDepth: 1, outlineNodesMax: 1_000_000 };

export class OpaqueBlock {
  readonly closesItself = true;
  #input = '';
  #content: JsonText | null = null;

  constructor(
    readonly type: string,
    readonly json: JsonText,
    readonly place: { takePart(): number },
  ) {}

  begin(): readonly GenerationEvent[] {
    return NONE;
  }

  push(delta: JsonObject, recordJson: JsonText): readonly GenerationEvent[] {
    if (delta.type === 'compaction_delta') this.#content = memberText(memberText(recordJson, 'delta') ?? '', 'content');
    if (delta.type !== 'input_json_delta') return NONE;
    this.#input += asText(delta.partial_json) ?? '';
    if (this.#input.length <= INPUT_CHARS_MAX) return NONE;
    return [
      { kind: 'nonsense', message: `upstream sent more than ${INPUT_CHARS_MAX} characters of a ${this.type} block` },
    ];
  }

  end(): readonly GenerationEvent[] {
    const part = this.place.takePart();
    const native = { origin: 'messages', json: this.#whole() };
    const opaque = { kind: 'opaque', type: this.type, native, words: null } as const;
    return [
      { kind: 'part_start', part, opening: { kind: 'opaque', part: opaque } },
      { kind: 'part_end', part },
    ];
  }

  #whole(): JsonText {
    const withContent = this.#content === null ? this.json : withMember(this.json, 'content', this.#content);
    return isJson(this.#input) ? withMember(withContent, 'input', this.#input) : withContent;
  }
}

/** The object with another value of a member; as it was where it cannot be told in one way (a key that comes twice). */
function withMember(json: JsonText, name: string, value: JsonText): JsonText {
  const outline = scanJson(Buffer.from(json), SCAN_LIMITS);
  return outline.ok ? Buffer.from(spliceJson(outline, [{ set: [name], json: value }])).toString() : json;
}

/** Deltas that were cut off hold no value: then the block's own stays. */
function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
