/**
 * Defines what a request needs of the target that answers it, and reads what all formats share. Read from the scan of
 * the body, without parsing it; only for routes with more than one target.
 */
import { elements, type JsonNode, type JsonOutline, member, stringValue } from '../../wire/json-node.ts';

/** Null where a member names its reason: the path of the first such member of the client's request. */
export interface RequestNeeds {
  readonly tools: boolean;
  readonly image: boolean;
  readonly audio: boolean;
  /** Documents and files. */
  readonly pdf: boolean;
  /** A tool that the provider itself runs. */
  readonly serverTool: string | null;
  /** Log probabilities, which Anthropic's and Bedrock's formats do not have. */
  readonly logprobs: boolean;
  /** A file, container or stored conversation that one provider keeps. */
  readonly storedItem: string | null;
  /** A member or a tool that no other format can express. */
  readonly ownFormat: string | null;
  /** Orders targets only. */
  readonly reasoning: boolean;
  readonly schema: boolean;
}

/** What a body says about caches and signatures anywhere in it. Each is read when it is first needed. */
export interface CacheMarks {
  /** The history may hold signatures, which only their issuer accepts. */
  readonly signed: boolean;
  /** It marks parts of the prompt to be written to the cache. */
  readonly marksCache: boolean;
  /** It asks for a cache that lives for an hour or longer. */
  readonly longCache: boolean;
}

/** Reads the needs of a checked request. `mediaParts`: the number of its images, audio parts and documents. */
export type ReadNeeds = (outline: JsonOutline, mediaParts: number) => RequestNeeds;

/** Searches the bytes of the whole body: in a JSON text, a quote within a value is escaped. */
export class BodyMarks implements CacheMarks {
  readonly #outline: JsonOutline;
  #signed: boolean | null = null;
  #marksCache: boolean | null = null;
  #longCache: boolean | null = null;

  constructor(outline: JsonOutline) {
    this.#outline = outline;
  }

  get signed(): boolean {
    this.#signed ??= this.#has('signature"') || this.#has('"encrypted_content"');
    return this.#signed;
  }

  get marksCache(): boolean {
    this.#marksCache ??= this.#has('"cache_control"') || this.#has('"prompt_cache_breakpoint"');
    return this.#marksCache;
  }

  get longCache(): boolean {
    const retention = member(this.#outline.root, 'prompt_cache_retention');
    this.#longCache ??= (retention !== undefined && stringValue(retention) === '24h') || this.#has('"1h"');
    return this.#longCache;
  }

  #has(mark: string): boolean {
    const { bytes } = this.#outline;
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes(mark);
  }
}

/** Whether a member is given and is neither null nor an empty array. */
export function isGiven(root: JsonNode, name: string): boolean {
  const node = member(root, name);
  return node !== undefined && node.kind !== 'null' && (node.kind !== 'array' || elements(node).length > 0);
}

/** The text of a member's `type`; null: another value. */
export function typeOf(node: JsonNode): string | null {
  const type = node.kind === 'object' ? member(node, 'type') : undefined;
  return (type === undefined ? undefined : stringValue(type)) ?? null;
}
