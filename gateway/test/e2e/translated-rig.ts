/** Starts the gateway for the suites on translated routes, and defines their long conversation with tools. */
import type { Scenario } from '../fake-upstream/scenario.ts';
import { pointAt } from '../harness/point-at.ts';
import { type Pair, sentTexts, startPair } from '../harness/start-pair.ts';

/** Models of a chat completions upstream: a plain one, and one that requires earlier reasoning in the request. */
export const CHAT_MODELS = ['own', 'thinker'] as const;
/** The model of a messages upstream. */
export const CLAUDE = 'claude-sonnet-4-6';

/** Starts both processes; every model is served on both endpoints. */
export function startTranslatedRig(): Promise<Pair> {
  return startPair((fakeUrl) => {
    const built = pointAt(fakeUrl, { chat: ['own'], messages: [CLAUDE] }) as {
      readonly providers: object;
      readonly models: object;
    };
    const reasoner = { kind: 'openai-compatible', preset: 'deepseek', base_url: `${fakeUrl}/v1`, api_key: 'none' };
    const price = { input: 1, output: 5 };
    return {
      providers: { ...built.providers, reasoner },
      models: { ...built.models, thinker: { targets: [{ provider: 'reasoner' }], price } },
    };
  });
}

/** A request body that upstream received. */
export interface SentBody {
  readonly messages: readonly unknown[];
  readonly system?: unknown;
  readonly tools?: unknown;
  readonly [member: string]: unknown;
}

/** Returns the bodies that upstream received for a model, in order. */
export function sentBodies({ fake }: Pair, model: string): SentBody[] {
  return sentTexts({ fake }, model).map((text) => JSON.parse(text) as SentBody);
}

/** One pixel. */
export const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
export const QUESTION = 'What is the weather in Zürich, Oslo, Lima, Rome, Bern and Kyiv?';
export const ANSWER = 'Sunny 🌞 in all of them.';

/** The tools of the conversation. */
export const TOOLS = [
  { name: 'get_weather', description: 'Says the weather of a city', parameters: objectOf('city') },
  { name: 'take_photo', description: 'Takes a photo of a city', parameters: objectOf('city') },
] as const;

function objectOf(member: string) {
  return { type: 'object' as const, properties: { [member]: { type: 'string' as const } }, required: [member] };
}

const call = (number: number, name: string, city: string) => ({ id: `call_${number}`, name, input: { city } });

/**
 * Five answers: parallel calls after reasoning and text, a photo, a single call, calls without text, the final text.
 */
export const LOOP: readonly Scenario[] = [
  {
    say: {
      reasoning: 'Two at once will do.',
      text: 'I look.',
      calls: [call(1, 'get_weather', 'Zürich'), call(2, 'get_weather', 'Oslo')],
    },
  },
  {
    say: {
      reasoning: 'Now a photo.',
      calls: [call(3, 'take_photo', 'Lima'), call(4, 'get_weather', 'Rome')],
    },
  },
  { say: { text: 'One more.', calls: [call(5, 'get_weather', 'Bern')] } },
  {
    say: {
      reasoning: 'And the last two.',
      calls: [call(6, 'get_weather', 'Kyiv'), call(7, 'take_photo', 'Kyiv')],
    },
  },
  { say: { reasoning: 'All are known.', text: ANSWER, cacheReadTokens: 7 } },
];

/** The tools' results: text for the weather, text and an image for a photo. */
export function weatherOf(city: string): string {
  return `sunny in ${city}`;
}

export const PHOTO_WORDS = 'the photo';
