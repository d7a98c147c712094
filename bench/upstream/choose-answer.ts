/** Chooses the answer that a request body asks for. Reads the few members it needs without parsing the whole body. */

/**
 * `plain`: one JSON body; `burst`: a stream in one write; `paced`: the same stream in 100 writes, one every 10 ms;
 * `slow`: an event now and then until the client leaves; `endless`: events as fast as the reader takes them; `limited`: a
 * stream of one token, which ended at the request's limit.
 */
export type AnswerKind = 'plain' | 'burst' | 'paced' | 'slow' | 'endless' | 'limited';

export interface Answer {
  readonly kind: AnswerKind;
  /** True when the request asked for the usage chunk of a chat stream. */
  readonly withUsage: boolean;
}

/** Model names of the upstream and their kind of stream; `bench` also answers without streaming. */
export const UPSTREAM_MODELS = {
  bench: 'burst',
  'bench-paced': 'paced',
  'bench-slow': 'slow',
  'bench-endless': 'endless',
} as const satisfies Record<string, AnswerKind>;

/** Large requests are not searched for their limit. */
const LIMITED_CHARS_MAX = 1_000;

export type UpstreamModel = keyof typeof UPSTREAM_MODELS;

function isUpstreamModel(name: string): name is UpstreamModel {
  return Object.hasOwn(UPSTREAM_MODELS, name);
}

/** The answer for a body, or a refusal with its reason. A name inside a JSON string is escaped and so never matches. */
export function chooseAnswer(body: string): Answer | { readonly refusal: string } {
  const model = /"model"\s*:\s*"([^"\\]*)"/.exec(body)?.[1];
  if (model === undefined || !isUpstreamModel(model)) {
    const known = Object.keys(UPSTREAM_MODELS).join(', ');
    return { refusal: `model: found ${model === undefined ? 'none' : `"${model}"`}, expected one of ${known}` };
  }
  const streams = /"stream"\s*:\s*true/.test(body);
  const isLimited = body.length <= LIMITED_CHARS_MAX && /"max_(?:output_)?tokens"\s*:\s*1\b/.test(body);
  if (streams && isLimited) return { kind: 'limited', withUsage: true };
  if (streams) return { kind: UPSTREAM_MODELS[model], withUsage: /"include_usage"\s*:\s*true/.test(body) };
  if (model === 'bench') return { kind: 'plain', withUsage: false };
  return { refusal: `stream: found none, expected true, which model "${model}" always needs` };
}
