/** Observes the events of a stream of images: partial images, the finished ones with their usage, errors. Changes none. */
import type { StreamRecord } from '../../../framing/framing.ts';
import { dataText } from '../../../framing/framing.ts';
import { addUsage, type Usage } from '../../../generation/usage.ts';
import { jsonText, member } from '../../../wire/json-node.ts';
import { scanJson } from '../../../wire/json-scan.ts';
import { findEventError } from '../../answer/answer-error.ts';
import { asText, type JsonObject } from '../../json.ts';
import type { AnswerFacts, RecordVerdict, StreamObserver } from '../../upstream-protocol.ts';
import { imageFacts } from '../shared/read-answer.ts';

const DONE = '[DONE]';
const NOTHING = Buffer.alloc(0);
const PARTIAL = Buffer.from('.partial_image"');
/** Precedes the image, which may have megabytes. */
const TYPE_WITHIN_BYTES = 200;
const FACTS = ['type', 'size', 'quality', 'usage', 'svg_usage', 'model', 'error', 'code', 'message'];
const ROOT_ONLY = { outlineDepth: 1 };
const { counted: _, ...NOTHING_DRAWN } = imageFacts({}, 0, 0);

export class ImageStreamObserver implements StreamObserver {
  readonly rewrites = false;
  readonly replacement = null;
  readonly protocolViolations = 0;
  begun = false;
  failure: StreamObserver['failure'] = null;
  #images = 0;
  #facts: AnswerFacts = NOTHING_DRAWN;
  #usage: Usage | null = null;

  facts(): AnswerFacts {
    return { ...this.#facts, usage: this.#usage, usageSoFar: this.#usage };
  }

  skim(_bytes: Uint8Array, start: number): number {
    return start;
  }

  preview(_bytes: Uint8Array, start: number): ReturnType<StreamObserver['preview']> {
    return { end: start, outputBytes: 0 };
  }

  /** Nothing need follow the last image. */
  endOfBytes(): Buffer | null {
    return this.#images > 0 ? NOTHING : null;
  }

  observe(record: StreamRecord): RecordVerdict {
    if (isPartial(record)) {
      // It may show nearly all of the image, so a client that leaves now pays for it.
      if (!this.begun) this.#facts = imageFacts({}, 1, 0);
      this.begun = true;
      return 'pass';
    }
    const event = readFacts(record);
    if (event === null) return dataText(record).trim() === DONE ? 'terminal' : 'malformed';
    this.failure = findEventError(event);
    if (this.failure !== null) {
      if (this.#images === 0) this.#facts = NOTHING_DRAWN;
      return 'error';
    }
    if (asText(event.type)?.endsWith('.completed') === true) this.#complete(event);
    return 'pass';
  }

  /** Each finished image has its own usage, or the last one that of all. */
  #complete(event: JsonObject): void {
    this.begun = true;
    this.#images += 1;
    this.#facts = imageFacts(event, this.#images, 0);
    const { usage } = imageFacts(event, 1, 0);
    const sum = usage === null || this.#usage === null ? usage : addUsage(this.#usage, usage);
    this.#usage = sum === null ? null : { ...sum, extras: { ...sum.extras, images: this.#images } };
  }
}

function isPartial({ dataBytes, dataStart, dataEnd }: StreamRecord): boolean {
  const length = Math.min(TYPE_WITHIN_BYTES, dataEnd - dataStart);
  return Buffer.from(dataBytes.buffer, dataBytes.byteOffset + dataStart, length).includes(PARTIAL);
}

/** The members of an event without its image; null: it is no JSON object. */
function readFacts({ dataBytes, dataStart, dataEnd }: StreamRecord): JsonObject | null {
  const outline = scanJson(dataBytes.subarray(dataStart, dataEnd), ROOT_ONLY);
  if (!outline.ok || outline.root.kind !== 'object') return null;
  const facts: Record<string, unknown> = {};
  for (const name of FACTS) {
    const node = member(outline.root, name);
    if (node !== undefined) facts[name] = JSON.parse(jsonText(node));
  }
  return facts;
}
