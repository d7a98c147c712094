/**
 * Selects the recordings that reliably say how many tokens a prompt of text and tools has, and parses chat and messages
 * with the product's parsers. Excludes prompts to which the provider adds unseen content (its own tools, media).
 */
import { deflateRawSync } from 'node:zlib';
import { startSseDecoder } from '../../../src/framing/sse-decoder.ts';
import { foldGeneration } from '../../../src/generation/generation.ts';
import type { Part } from '../../../src/generation/part.ts';
import type { GenerationRequest } from '../../../src/generation/request.ts';
import { parseRequest as parseChatRequest } from '../../../src/protocols/chat/client/parse-request.ts';
import { parseAnswer as parseChatAnswer } from '../../../src/protocols/chat/upstream/parse-answer.ts';
import { startStreamParser as startChatParser } from '../../../src/protocols/chat/upstream/parse-stream.ts';
import type { GenerationClient } from '../../../src/protocols/client-protocol.ts';
import { parseRequest as parseMessagesRequest } from '../../../src/protocols/messages/client/parse-request.ts';
import { parseAnswer as parseMessagesAnswer } from '../../../src/protocols/messages/upstream/parse-answer.ts';
import { startStreamParser as startMessagesParser } from '../../../src/protocols/messages/upstream/parse-stream.ts';
import { startTranslationNotes } from '../../../src/protocols/request/translation-notes.ts';
import type { GenerationUpstream } from '../../../src/protocols/upstream-protocol.ts';
import { scanJson } from '../../../src/wire/json-scan.ts';
import { type Recording, recordingBytes } from '../../fake-upstream/recording.ts';
import { loadRecordings } from '../../fake-upstream/recordings.ts';
import { list, object } from '../wire-text.ts';
import { readGeminiPrompt } from './recorded-gemini-prompts.ts';

/** A prompt and upstream's token count. */
export interface RecordedPrompt {
  readonly id: string;
  readonly model: string;
  readonly request: GenerationRequest;
  /** All input tokens, cached or not. */
  readonly promptTokens: number;
  /** An answer of text alone without reasoning, with its tokens; otherwise null. */
  readonly answer: { readonly text: string; readonly tokens: number } | null;
}

type Reader = Pick<GenerationClient, 'parseRequest'> & Pick<GenerationUpstream, 'parseAnswer' | 'startStreamParser'>;

const READERS: { readonly [api: string]: Reader } = {
  'openai-chat': {
    parseRequest: parseChatRequest,
    parseAnswer: parseChatAnswer,
    startStreamParser: startChatParser,
  },
  'anthropic-messages': {
    parseRequest: parseMessagesRequest,
    parseAnswer: parseMessagesAnswer,
    startStreamParser: startMessagesParser,
  },
};
/** Members that make a provider add to the prompt or call another model. */
const HIDDEN_PROMPT = [
  'context_management',
  'mcp_servers',
  'container',
  'web_search_options',
  'search_parameters',
  'models',
  'plugins',
  'functions',
  'audio',
  'prediction',
  'moderation',
];
/** Reasoning sent back as text: prompt templates remove it. */
const THOUGHT_IN_TEXT = '<think>';
const FILLER_CHARACTERS_MIN = 400;
const FILLER_DEFLATED_BELOW = 0.12;
/** Models that always search before they answer. */
const SEARCHING_MODELS = /sonar|compound|search/;
/** Models that reason without showing it in the recorded usage or text. */
const THINKING_MODELS = /(^|\/)o\d|gpt-5|gpt-oss|qwen-?3|r1|reason|glm|kimi|think|minimax|magistral/;

/** Returns every recorded prompt that can be used, in index order; null without the recordings. */
export function loadRecordedPrompts(): RecordedPrompt[] | null {
  const recordings = (['openai-chat', 'anthropic-messages', 'gemini-generate'] as const).map((api) =>
    loadRecordings({ api }),
  );
  if (recordings.some((some) => some === null)) return null;
  return readPrompts(recordings.flatMap((some) => some ?? []).filter(({ fidelity }) => fidelity !== 'handwritten'));
}

/** Returns every prompt whose tokens can be counted from the request alone. */
export function readPrompts(recordings: readonly Recording[]): RecordedPrompt[] {
  return recordings.flatMap((recording) => {
    const prompt = recording.api === 'gemini-generate' ? readGeminiPrompt(recording) : readPrompt(recording);
    return prompt !== null && isPlain(prompt.request) && !SEARCHING_MODELS.test(prompt.model) ? [prompt] : [];
  });
}

function readPrompt(recording: Recording): RecordedPrompt | null {
  const reader = READERS[recording.api];
  const body = object(recording.request?.body);
  if (reader === undefined || body === null || recording.response.status !== 200) return null;
  if (HIDDEN_PROMPT.some((name) => body[name] != null)) return null;
  if (list(body.tools).some((tool) => object(tool)?.defer_loading === true)) return null;
  const outline = scanJson(Buffer.from(JSON.stringify(body)));
  if (!outline.ok) return null;
  const { usage, parts, finish_reason } = foldGeneration(answerEvents(reader, recording));
  if (usage === null) return null;
  const request = parsed(() =>
    reader.parseRequest(outline, startTranslationNotes(false), { model: 'm', stream: false }),
  );
  const promptTokens = usage.input + usage.cache_read + usage.cache_write_5m + usage.cache_write_1h;
  if (request === null || promptTokens === 0) return null;
  const { model } = request;
  const isSpoken = finish_reason === 'stop' && usage.reasoning === 0 && !THINKING_MODELS.test(model.toLowerCase());
  const isOne = body.n == null || body.n === 1;
  const text = isSpoken && isOne && parts.every((part) => part.kind === 'text') ? parts.map(textOf).join('') : '';
  return {
    id: recording.id,
    model,
    request,
    promptTokens,
    answer: text === '' ? null : { text, tokens: usage.output },
  };
}

/** A request that our own parser refuses needs no estimate. */
function parsed(parse: () => GenerationRequest): GenerationRequest | null {
  try {
    return parse();
  } catch {
    return null;
  }
}

function answerEvents(reader: Reader, recording: Recording) {
  const bytes = Buffer.from(recordingBytes(recording));
  if (!recording.stream) return reader.parseAnswer(bytes);
  const decoder = startSseDecoder();
  const parser = reader.startStreamParser();
  const records = [...decoder.push(bytes), ...decoder.finish()];
  return [...records.flatMap((record) => (record.kind === 'problem' ? [] : parser.push(record))), ...parser.finish()];
}

function textOf(part: Part): string {
  return part.kind === 'text' ? part.text : '';
}

/** Only text and the caller's own functions, nothing whose tokens depend on data outside the request. */
function isPlain({ turns, tools }: GenerationRequest): boolean {
  const parts = turns.flatMap((turn) => turn.parts);
  const inner = parts.flatMap((part): readonly Part[] => (part.kind === 'tool_result' ? part.parts : [part]));
  return (
    tools.every((tool) => tool.kind === 'function') &&
    inner.every((part) => ['text', 'reasoning', 'refusal', 'tool_call'].includes(part.kind)) &&
    !inner.some((part) => isFiller(textOf(part)) || textOf(part).startsWith(THOUGHT_IN_TEXT))
  );
}

/** One word or sentence repeated to make a prompt long enough for a cache: it measures only that word's tokens. */
function isFiller(text: string): boolean {
  return text.length > FILLER_CHARACTERS_MIN && deflateRawSync(text).length < text.length * FILLER_DEFLATED_BELOW;
}
