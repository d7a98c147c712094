/** Sets up Google's own client for Gemini, and sends requests as it does. */
import {
  ApiError,
  createPartFromFunctionResponse,
  FinishReason,
  type GenerateContentResponse,
  GoogleGenAI,
  type PartListUnion,
  Type,
} from '@google/genai';
import type { ClientDriver, Target } from '../e2e-clients/client-driver.ts';

interface Body {
  readonly contents: object[];
  readonly systemInstruction?: object;
  readonly tools?: object[];
  readonly toolConfig?: object;
  readonly generationConfig?: object;
  readonly serviceTier?: string;
}

/** Has the client send the request of a body; its members are those of the client's own types. */
export async function sendWithGoogle(baseUrl: string, model: string, body: Body): Promise<void> {
  const client = new GoogleGenAI({ apiKey: 'none', apiVersion: 'v1beta', httpOptions: { baseUrl } });
  const { contents, generationConfig, ...rest } = body;
  await client.models.generateContent({ model, contents, config: { ...generationConfig, ...rest } as object });
}

const STEPS_MAX = 8;

const clientOf = ({ url, key }: Target) =>
  new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: url, retryOptions: { attempts: 1 } } });

const THINKS = { thinkingConfig: { includeThoughts: true } };

const WEATHER = {
  functionDeclarations: [
    {
      name: 'get_weather',
      description: 'Says the weather of a city',
      parameters: { type: Type.OBJECT, properties: { city: { type: Type.STRING } }, required: ['city'] },
    },
  ],
};

const PLACE = {
  type: Type.OBJECT,
  properties: { city: { type: Type.STRING }, degrees: { type: Type.INTEGER } },
  required: ['city', 'degrees'],
};

/** The answer of its chunks; of one in one piece, of itself. */
function answerOf(chunks: readonly GenerateContentResponse[]) {
  const parts = chunks.flatMap(({ candidates }) => candidates?.[0]?.content?.parts ?? []);
  const wordsOf = (isThought: boolean) =>
    parts.map(({ text = '', thought = false }) => (thought === isThought ? text : '')).join('');
  const usage = chunks.findLast(({ usageMetadata }) => usageMetadata !== undefined)?.usageMetadata;
  return {
    text: wordsOf(false),
    reasoning: wordsOf(true),
    finishReason: chunks.findLast(({ candidates }) => candidates?.[0]?.finishReason)?.candidates?.[0]?.finishReason,
    inputTokens: usage?.promptTokenCount,
    cacheReadTokens: usage?.cachedContentTokenCount,
    outputTokens: usage === undefined ? undefined : (usage.candidatesTokenCount ?? 0) + (usage.thoughtsTokenCount ?? 0),
  };
}

async function gather<Chunk>(stream: AsyncIterable<Chunk>): Promise<Chunk[]> {
  const chunks: Chunk[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
}

const genai: ClientDriver = {
  finished: FinishReason.STOP,
  readsReasoning: true,
  countsAtStart: false,
  async ask(target, question) {
    const { model } = target;
    return answerOf([await clientOf(target).models.generateContent({ model, contents: question, config: THINKS })]);
  },
  async askStreamed(target, question) {
    const { model } = target;
    const chunks = await gather(
      await clientOf(target).models.generateContentStream({ model, contents: question, config: THINKS }),
    );
    const texts = chunks.flatMap(({ candidates }) => candidates?.[0]?.content?.parts ?? []);
    const pieces = texts.flatMap(({ text, thought }) => (text && thought !== true ? [text] : []));
    return { ...answerOf(chunks), pieces };
  },
  async runTools(target, question, streamed) {
    const chat = clientOf(target).chats.create({ model: target.model, config: { ...THINKS, tools: [WEATHER] } });
    const cities: string[] = [];
    let message: PartListUnion = question;
    for (let steps = 1; steps <= STEPS_MAX; steps += 1) {
      const chunks: GenerateContentResponse[] = streamed
        ? await gather(await chat.sendMessageStream({ message }))
        : [await chat.sendMessage({ message })];
      const calls = chunks.flatMap(({ functionCalls = [] }) => functionCalls);
      if (calls.length === 0) return { text: answerOf(chunks).text, cities, steps };
      message = calls.map(({ id, name, args }) => {
        const city = String(args?.city);
        cities.push(city);
        return createPartFromFunctionResponse(id ?? '', name ?? '', { output: `sunny in ${city}` });
      });
    }
    throw new Error(`no answer after ${STEPS_MAX} steps`);
  },
  async fillSchema(target, question) {
    const config = { responseMimeType: 'application/json', responseSchema: PLACE };
    const { text } = await clientOf(target).models.generateContent({ model: target.model, contents: question, config });
    return JSON.parse(text ?? '');
  },
  seesOverflow: (error) =>
    error instanceof ApiError && error.status === 400 && /maximum number of tokens/.test(error.message),
};

/** Google's client, plain, streamed and as a chat. */
export const drivers: Readonly<Record<'genai', ClientDriver>> = { genai };
