/** Reads what an answer with images says of itself: their number, size and quality, and the tokens of each class. */
import {
  extrasOf,
  IMAGE_KIND,
  NO_FLAGS,
  type UnitUsage,
  type Usage,
  type UsagePart,
  ZERO_USAGE,
} from '../../../generation/usage.ts';
import { asCount, asName, asObject, countOrZero, type JsonObject } from '../../json.ts';
import type { AnswerFacts, AnswerReading } from '../../upstream-protocol.ts';

/** The size and quality; `auto` and what is no name of one are unknown. */
export function imageKind(size: unknown, quality: unknown): Pick<UnitUsage, 'image_kind'> {
  const image_kind = [size, quality].filter((word) => typeof word === 'string' && word !== 'auto').join('/');
  return IMAGE_KIND.test(image_kind) ? { image_kind } : {};
}

/** `bodyBytes`: the length of the body that `answer` was parsed from. */
export function readAnswer(answer: unknown, bodyBytes: number): AnswerReading {
  const body = asObject(answer);
  if (!Array.isArray(body?.data)) return { kind: 'malformed', message: 'the answer has no list of images' };
  return { kind: 'answer', facts: imageFacts(body, body.data.length, bodyBytes) };
}

/** `body` states size, quality and usage. `images`: those that the answer has. */
export function imageFacts(body: JsonObject, images: number, bytes: number): AnswerFacts {
  // One of the two alone would hide what was asked for.
  const isStated = typeof body.size === 'string' && typeof body.quality === 'string';
  const units = { images, ...(isStated ? imageKind(body.size, body.quality) : {}) };
  const usage = readUsage(body, units);
  return {
    usage,
    usageFlags: NO_FLAGS,
    usageSoFar: usage,
    finish_reason: null,
    model: asName(body.model),
    outputBytes: 0,
    reasoningBytes: 0,
    outputBytesMax: bytes,
    counted: { extras: units },
  };
}

/**
 * Null: no tokens are stated, as by models that are priced by the image. A model that drew vectors for the first one is
 * a run of its own (`svg_usage`), with the price of its own model.
 */
function readUsage(body: JsonObject, units: UnitUsage): Usage | null {
  const own = readRun(asObject(body.usage));
  if (own === null) return null;
  const svg = asObject(body.svg_usage);
  const drawn = svg === null ? null : readRun(svg);
  const model = asName(svg?.model);
  if (drawn === null || model === null) return withUnits(own, units);
  // It writes text: none of its tokens are of an image.
  const { extras: _, ...counters } = drawn;
  const reasoning = Math.min(countOrZero(svg?.reasoning_tokens), drawn.output);
  const runs: readonly UsagePart[] = [own, { ...counters, model, reasoning }];
  const sum = (counter: 'input' | 'cache_read' | 'output' | 'reasoning') =>
    runs.reduce((total, run) => total + run[counter], 0);
  const whole = {
    ...ZERO_USAGE,
    input: sum('input'),
    cache_read: sum('cache_read'),
    output: sum('output'),
    reasoning: sum('reasoning'),
  };
  return { ...whole, extras: { ...own.extras, ...units, parts: runs } };
}

function withUnits(usage: Usage, units: UnitUsage): Usage {
  const extras = { ...usage.extras, ...units };
  return Object.keys(extras).length === 0 ? usage : { ...usage, extras };
}

/** Null: not both counts. */
function readRun(usage: JsonObject | null): Usage | null {
  const input = asCount(usage?.input_tokens);
  const output = asCount(usage?.output_tokens);
  if (typeof input !== 'number' || typeof output !== 'number') return null;
  const ofInput = asObject(usage?.input_tokens_details);
  const ofOutput = asObject(usage?.output_tokens_details);
  const cache_read = Math.min(countOrZero(ofInput?.cached_tokens), input);
  const image_input = Math.min(countOrZero(ofInput?.image_tokens), input - cache_read);
  // The first models state no classes, because they answer with nothing but images.
  const image_output = ofOutput === null ? output : Math.min(countOrZero(ofOutput.image_tokens), output);
  const extras = extrasOf({ image_input, image_output });
  const counters = { ...ZERO_USAGE, input: input - cache_read, cache_read, output };
  return extras === undefined ? counters : { ...counters, extras };
}
