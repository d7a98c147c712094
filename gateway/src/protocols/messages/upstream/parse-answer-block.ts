/**
 * Parses one content block of a response, whole or from its deltas. The caller tracks its place in the response and
 * assigns deltas to blocks.
 */
import type { GenerationEvent, PartOpening } from '../../../generation/event.ts';
import type { Citation, JsonText } from '../../../generation/part.ts';
import { scanJson } from '../../../wire/json-scan.ts';
import { spliceJson } from '../../../wire/json-splice.ts';
import { elementTexts, memberText } from '../../exact-json.ts';
import { asArray, asObject, asText, type JsonObject, parseObject } from '../../json.ts';
import { aliasText } from '../../request/tool-names.ts';
import { fitsBlock } from '../stream/stream-grammar.ts';

/** A server tool's input is at most code; anything larger is an attack. */
const INPUT_CHARS_MAX = 8 * 1024 * 1024;

const SCAN_LIMITS = { depthMax: 512, keysPerObjectMax: 1_000_000, outlineDepth: 1, outlineNodesMax: 1_000_000 };

class OpaqueBlock {
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
      { kind: 'malformed', message: `upstream sent more than ${INPUT_CHARS_MAX} characters of a ${this.type} block` },
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

/** The object with a new value for a member; unchanged if the member is ambiguous (a duplicate key). */
function withMember(json: JsonText, name: string, value: JsonText): JsonText {
  const outline = scanJson(Buffer.from(json), SCAN_LIMITS);
  return outline.ok ? Buffer.from(spliceJson(outline, [{ set: [name], json: value }])).toString() : json;
}

/** Truncated deltas are not valid JSON; the block's own value is kept then. */
function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Events of one block. A `malformed` event is the last; do not use the parser after it. */
export interface BlockParser {
  /** Whether a block of this kind counts as complete if upstream never closed it. */
  readonly closesItself: boolean;
  begin(): readonly GenerationEvent[];
  /** `recordJson` is the whole event that contains the delta. */
  push(delta: JsonObject, recordJson: JsonText): readonly GenerationEvent[];
  end(): readonly GenerationEvent[];
}

interface BlockPlace {
  /** Unique to the response; used to name a call without an id. */
  readonly answerId: string;
  /** The number of the next part. */
  takePart(): number;
}

const CALL_ID_CHARS_MAX = 64;
const NONE: readonly GenerationEvent[] = [];

/** A parser for the block, or what is wrong with it. `json` is the block as written. */
export function startBlockParser(block: JsonObject, json: JsonText, place: BlockPlace): BlockParser | string {
  const type = asText(block.type);
  switch (type) {
    case null:
      return 'a content block without a type';
    case 'text':
      return new SpeechBlock('text', { kind: 'text' }, block, json, place.takePart());
    case 'thinking':
    case 'redacted_thinking': {
      const redacted = type === 'redacted_thinking';
      return new SpeechBlock(type, { kind: 'reasoning', redacted, issuer: 'messages' }, block, json, place.takePart());
    }
    case 'tool_use': {
      const name = asText(block.name);
      if (name === null) return 'a tool_use block without a name';
      const part = place.takePart();
      const id = asText(block.id) ?? aliasText(`toolu_${place.answerId}_${part}`, CALL_ID_CHARS_MAX);
      return new CallBlock({ kind: 'tool_call', id, name, tool: 'function' }, inputOf(block, json), part);
    }
    default:
      return new OpaqueBlock(type, json, place);
  }
}

/**
 * A call's initial arguments, used if no delta follows. Hosts that translate for chat models may leave them as text:
 * https://github.com/nielspeter/claude-code-proxy/pull/13 (2026-04-22).
 */
function inputOf(block: JsonObject, json: JsonText): JsonText {
  const text = asText(block.input);
  if (text !== null) return parseObject(text) === null ? '{}' : text;
  return asObject(block.input) === null ? '{}' : (memberText(json, 'input') ?? '{}');
}

/** A delta type that does not fit its block. */
function misfit(type: string, delta: unknown): readonly GenerationEvent[] {
  return [{ kind: 'malformed', message: `upstream sent a delta of type ${delta} for a block of type ${type}` }];
}

/** A delta whose member is not text. */
function noText(delta: unknown): readonly GenerationEvent[] {
  return [{ kind: 'malformed', message: `upstream sent ${delta} without text` }];
}

/** Text, thinking and redacted thinking. */
class SpeechBlock implements BlockParser {
  readonly closesItself = true;
  /** A high surrogate that waits for its low surrogate. */
  #half = '';

  constructor(
    readonly type: 'text' | 'thinking' | 'redacted_thinking',
    readonly opening: PartOpening,
    readonly block: JsonObject,
    readonly json: JsonText,
    readonly part: number,
  ) {}

  begin(): readonly GenerationEvent[] {
    const { type, block } = this;
    const events: GenerationEvent[] = [{ kind: 'part_start', part: this.part, opening: this.opening }];
    if (type === 'redacted_thinking') return [...events, ...this.#sign(block.data)];
    events.push(...this.#say(type, type === 'text' ? block.text : block.thinking));
    if (type === 'thinking') return [...events, ...this.#sign(block.signature)];
    const citations = asArray(block.citations);
    const texts = citations.length === 0 ? [] : elementTexts(memberText(this.json, 'citations') ?? '[]');
    return [...events, ...citations.flatMap((citation, index) => this.#cite(citation, texts[index] ?? null))];
  }

  push(delta: JsonObject, recordJson: JsonText): readonly GenerationEvent[] {
    const { type } = delta;
    if (typeof type === 'string' && !fitsBlock(this.type, type)) return misfit(this.type, type);
    switch (type) {
      case 'text_delta':
        return this.#say(type, delta.text);
      case 'thinking_delta':
        return this.#say(type, delta.thinking);
      case 'signature_delta':
        return this.#sign(delta.signature);
      case 'citations_delta':
        return this.#cite(delta.citation, memberText(memberText(recordJson, 'delta') ?? '{}', 'citation'));
      default:
        return NONE;
    }
  }

  end(): readonly GenerationEvent[] {
    const ended: GenerationEvent = { kind: 'part_end', part: this.part };
    return this.#half === '' ? [ended] : [{ kind: 'text_delta', part: this.part, text: this.#half }, ended];
  }

  #say(what: string, value: unknown): readonly GenerationEvent[] {
    if (value === '' || value === undefined || value === null) return NONE;
    if (typeof value !== 'string') return noText(what);
    let text = value;
    if (this.#half !== '') {
      text = this.#half + value;
      this.#half = '';
    }
    if (endsInHalf(text)) {
      this.#half = text.slice(-1);
      text = text.slice(0, -1);
    }
    return text === '' ? NONE : [{ kind: 'text_delta', part: this.part, text }];
  }

  #sign(value: unknown): readonly GenerationEvent[] {
    const signature = asText(value);
    return signature === null ? NONE : [{ kind: 'signature', part: this.part, signature }];
  }

  #cite(value: unknown, json: JsonText | null): readonly GenerationEvent[] {
    const citation = asObject(value);
    if (citation === null || json === null) return NONE;
    return [{ kind: 'citation', part: this.part, citation: parseCitation(citation, json) }];
  }
}

class CallBlock implements BlockParser {
  readonly closesItself = false;
  #hasOutput = false;

  constructor(
    readonly opening: PartOpening,
    /** The initial input; used if no delta follows. */
    readonly input: JsonText,
    readonly part: number,
  ) {}

  begin(): readonly GenerationEvent[] {
    return [{ kind: 'part_start', part: this.part, opening: this.opening }];
  }

  push(delta: JsonObject): readonly GenerationEvent[] {
    if (delta.type !== 'input_json_delta') {
      return typeof delta.type !== 'string' || fitsBlock('tool_use', delta.type)
        ? NONE
        : misfit('tool_use', delta.type);
    }
    const text = delta.partial_json;
    if (text === '' || text === undefined || text === null) return NONE;
    if (typeof text !== 'string') return noText('input_json_delta');
    this.#hasOutput = true;
    return [{ kind: 'arguments_delta', part: this.part, text }];
  }

  end(): readonly GenerationEvent[] {
    const ended: GenerationEvent = { kind: 'part_end', part: this.part };
    return this.#hasOutput ? [ended] : [{ kind: 'arguments_delta', part: this.part, text: this.input }, ended];
  }
}

/** `json` is the citation as written. Its position in the text is not given: it applies to the whole block. */
export function parseCitation(citation: JsonObject, json: JsonText): Citation {
  const native = { origin: 'messages', json };
  const url = asText(citation.url);
  if (citation.type !== 'web_search_result_location' || url === null) return { kind: 'opaque', native };
  return {
    kind: 'url',
    url,
    title: asText(citation.title),
    quote: asText(citation.cited_text),
    start: null,
    end: null,
    native,
  };
}

/** Whether the text ends with a high surrogate, so that the rest of the character must be awaited. */
export function endsInHalf(text: string): boolean {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff;
}
