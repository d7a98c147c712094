/** Sends requests of a Responses client to a running gateway, and reads its answers and what upstream got. */
import { asObject, type JsonObject } from '../../../src/protocols/json.ts';
import { type Pair, sentTexts } from '../../harness/start-pair.ts';

const PRICE = { input: 1, output: 5 };

/** A configuration of providers at the fake upstream, and of models by their provider and name there. */
export function configOf(
  providers: Readonly<Record<string, object>>,
  models: Readonly<Record<string, readonly [provider: string, model: string]>>,
): (fakeUrl: string) => object {
  return (fakeUrl) => {
    const base = { base_url: `${fakeUrl}/v1`, api_key: 'lab-credential' };
    const targets = Object.entries(models).map(([name, [provider, model]]) => {
      return [name, { targets: [{ provider, model }], price: PRICE }];
    });
    return {
      providers: Object.fromEntries(Object.entries(providers).map(([name, one]) => [name, { ...one, ...base }])),
      models: Object.fromEntries(targets),
    };
  };
}

/** A provider of each format. */
export const OF_EACH_FORMAT = {
  anthropic: { kind: 'anthropic' },
  lab: { kind: 'openai-compatible' },
  openai: { kind: 'openai' },
} as const;

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** `key`: default: the first key. */
export async function ask({ gateway }: Pair, path: string, body: object, key = gateway.key): Promise<Answer> {
  const reply = await fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: reply.status, headers: reply.headers, text: await reply.text() };
}

/** The events of a stream. */
export function eventsIn(text: string): JsonObject[] {
  return text
    .split('\n')
    .flatMap((line): JsonObject[] => (line.startsWith('data: {') ? [JSON.parse(line.slice(6))] : []));
}

/** The items of the last event of a stream. */
export function outputIn(text: string): JsonObject[] {
  const { output } = asObject(eventsIn(text).at(-1)?.response) ?? {};
  return Array.isArray(output) ? output : [];
}

/** The items of an answer in either form. */
export function itemsOf({ text }: Answer): JsonObject[] {
  return text.startsWith('{') ? (JSON.parse(text).output ?? []) : outputIn(text);
}

/** The body that upstream got last for a model. */
export function lastSent(pair: Pair, model: string) {
  return JSON.parse(sentTexts(pair, model).at(-1) ?? 'null');
}

/** The members that the answer says were left out. */
export function droppedBy({ headers }: Answer): string[] {
  return headers.get('x-tollgate-dropped')?.split(',') ?? [];
}
