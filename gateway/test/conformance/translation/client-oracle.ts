/**
 * Compares what an official client assembled with the canonical answer: both as one plain value. Wire reference A.6,
 * A.8, B.5, B.6, C.3 and C.7.
 */
import type { Generation } from '../../../src/generation/generation.ts';
import type { Part } from '../../../src/generation/part.ts';
import { type Json, list, object, words } from '../wire-text.ts';
import {
  annotationsOf,
  CHAT_WORDS,
  type Form,
  finishOf,
  messagesParts,
  messagesUsage,
  readBack,
  stopReasonOf,
} from './answer-oracle.ts';
import type { ClientReading } from './clients.ts';
import type { Format } from './format.ts';
import { CONTEXT } from './rig.ts';

/** What the client parsed. */
export function foundBy(format: Format, reading: ClientReading): Json {
  return format === 'chat' ? foundInCompletion(reading) : foundInMessage(reading);
}

/** What it should have parsed. */
export function wantedBy(format: Format, answer: Generation, form: Form): Json {
  return format === 'chat' ? wantedCompletion(answer, form) : wantedMessage(answer, form);
}

function foundInCompletion({ answer, reasoning }: ClientReading): Json {
  const choice = object(list(answer.choices)[0]) ?? {};
  const message = object(choice.message) ?? {};
  const usage = object(answer.usage);
  return {
    choices: list(answer.choices).length,
    id: answer.id,
    model: answer.model,
    role: message.role,
    content: words(message.content) ?? '',
    refusal: words(message.refusal) ?? '',
    reasoning,
    calls: list(message.tool_calls).map((call) => foundCall(object(call) ?? {})),
    annotations: list(message.annotations).map((one) => object(one)?.url_citation),
    finish_reason: choice.finish_reason,
    usage: usage === null ? null : usage,
  };
}

function foundCall({ id, type, ...rest }: Json): unknown {
  const called = object(rest[String(type)]);
  return [id, type, called?.name, type === 'custom' ? called?.input : called?.arguments];
}

function wantedCompletion(answer: Generation, form: Form): Json {
  const { parts } = readBack(answer, 'chat', form);
  const textsOf = (kind: string) =>
    parts.map((part) => (part.kind === kind && 'text' in part ? part.text : '')).join('');
  const { usage } = answer;
  const media = usage?.extras ?? {};
  const cached = (usage?.cache_read ?? 0) + (usage?.cache_write_5m ?? 0) + (usage?.cache_write_1h ?? 0);
  return {
    choices: 1,
    id: `chatcmpl-${CONTEXT.id}`,
    model: answer.model ?? CONTEXT.model,
    role: 'assistant',
    content: textsOf('text'),
    refusal: textsOf('refusal'),
    reasoning: textsOf('reasoning'),
    calls: parts.flatMap((part) =>
      part.kind === 'tool_call' ? [[part.id, part.tool, part.name, part.arguments]] : [],
    ),
    annotations: annotationsOf(answer.parts),
    finish_reason: CHAT_WORDS[finishOf(answer)],
    usage: usage && {
      prompt_tokens: usage.input + cached,
      completion_tokens: usage.output,
      total_tokens: usage.input + cached + usage.output,
      prompt_tokens_details: {
        cached_tokens: usage.cache_read,
        cache_write_tokens: usage.cache_write_5m + usage.cache_write_1h,
        ...wantedMedia((media.audio_input ?? 0) + (media.audio_cache_read ?? 0), media.image_input),
      },
      completion_tokens_details: {
        reasoning_tokens: usage.reasoning,
        ...wantedMedia(media.audio_output, media.image_output),
      },
    },
  };
}

/** Present only if there is any. */
function wantedMedia(audio_tokens = 0, image_tokens = 0): Json {
  return { ...(audio_tokens === 0 ? {} : { audio_tokens }), ...(image_tokens === 0 ? {} : { image_tokens }) };
}

function foundInMessage({ answer, inputs }: ClientReading): Json {
  const usage = object(answer.usage) ?? {};
  return {
    id: answer.id,
    model: answer.model,
    role: answer.role,
    content: list(answer.content).map((block, index) => foundBlock(object(block) ?? {}, inputs.get(index))),
    stop_reason: answer.stop_reason,
    stop_sequence: answer.stop_sequence,
    explanation: object(answer.stop_details)?.explanation ?? null,
    usage: [
      usage.input_tokens,
      usage.cache_read_input_tokens,
      usage.cache_creation_input_tokens,
      usage.output_tokens,
      object(usage.output_tokens_details)?.thinking_tokens,
      object(usage.server_tool_use)?.web_search_requests ?? 0,
      object(usage.server_tool_use)?.web_fetch_requests ?? 0,
    ],
  };
}

/** A block's own members; for a call also its raw input, which must equal the client's value. */
function foundBlock(block: Json, input: string | undefined): unknown {
  const { type } = block;
  if (type !== 'tool_use') return type === 'text' ? [type, block.text, list(block.citations)] : block;
  return [type, block.id, block.name, input, block.input];
}

function wantedMessage(answer: Generation, form: Form): Json {
  const usage = messagesUsage(answer, form);
  const ran = usage.extras?.server_tools ?? {};
  const stop_reason = stopReasonOf(answer);
  return {
    id: `msg_${CONTEXT.id}`,
    model: answer.model ?? CONTEXT.model,
    role: 'assistant',
    content: messagesParts(answer.parts).map(wantedBlock),
    stop_reason,
    stop_sequence: stop_reason === 'stop_sequence' ? answer.stop_sequence : null,
    explanation: stop_reason === 'refusal' ? answer.explanation : null,
    usage: [
      usage.input,
      usage.cache_read,
      usage.cache_write_5m + usage.cache_write_1h,
      usage.output,
      usage.reasoning,
      ran.web_search ?? 0,
      ran.web_fetch ?? 0,
    ],
  };
}

function wantedBlock(part: Part): unknown {
  switch (part.kind) {
    case 'text':
      return ['text', part.text, part.citations.map(({ native }) => JSON.parse(native?.json ?? 'null'))];
    case 'reasoning':
      if (part.redacted) return { type: 'redacted_thinking', data: part.signature };
      return { type: 'thinking', thinking: part.text, signature: part.signature };
    case 'tool_call':
      return ['tool_use', part.id, part.name, part.arguments, JSON.parse(part.arguments)];
    default:
      return part.kind === 'opaque' ? JSON.parse(part.native.json) : null;
  }
}
