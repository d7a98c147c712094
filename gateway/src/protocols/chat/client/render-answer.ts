/** Renders a whole answer as a non-streamed chat completion. Wire reference A.6, C.3 and C.7. */
import type { Generation } from '../../../generation/generation.ts';
import type { Native, Part, ToolCallPart } from '../../../generation/part.ts';
import { type WritableJson, writeJson } from '../../../wire/json-writer.ts';
import type { AnswerContext } from '../../client-protocol.ts';
import { unpackSignature } from '../../host-data.ts';
import { renderAnnotations } from '../shared/annotations.ts';
import { finishWord } from '../shared/finish-words.ts';
import { renderLogprobs } from '../shared/logprobs.ts';
import { renderUsage } from '../shared/usage.ts';

/**
 * The JSON of the answer and its finish reason. Omits what only another format has, and `usage` if upstream reported
 * none. Throws if the answer never finished: a cut answer is not an answer.
 */
export function renderAnswer(
  generation: Generation,
  context: AnswerContext,
): { readonly json: string; readonly finish_reason: string } {
  if (generation.finish_reason === null) throw new Error('an answer that never finished was to be rendered');
  const callsTool = generation.parts.some(({ kind }) => kind === 'tool_call');
  const finish_reason = finishWord(generation.finish_reason, callsTool);
  const json = writeJson({
    id: `chatcmpl-${context.id}`,
    object: 'chat.completion',
    created: context.createdSeconds,
    model: generation.model ?? context.model,
    choices: [{ index: 0, message: renderMessage(generation), logprobs: logprobsOf(generation), finish_reason }],
    usage: generation.usage === null ? undefined : renderUsage(generation.usage),
  });
  return { json, finish_reason };
}

function logprobsOf({ logprobs }: Generation): WritableJson {
  return logprobs === undefined ? null : renderLogprobs(logprobs);
}

function renderMessage({ parts, finish_reason, explanation }: Generation): WritableJson {
  const content = textOf(parts, 'text');
  const reasoning = textOf(parts, 'reasoning');
  const refusal = textOf(parts, 'refusal') || (finish_reason === 'refusal' ? (explanation ?? '') : '');
  const calls = parts.filter((part) => part.kind === 'tool_call');
  const annotations = annotationsOf(parts);
  const images = parts.flatMap((part) =>
    part.kind === 'opaque' && part.imageUrl !== undefined ? [part.imageUrl] : [],
  );
  // No parts at all: empty content; only reasoning, calls or a refusal: null content (vectors 19, 20, 59).
  const saidNone = content === '' && (refusal !== '' || parts.some(({ kind }) => kind !== 'text'));
  return {
    role: 'assistant',
    content: saidNone ? null : content,
    refusal: refusal === '' ? null : refusal,
    reasoning_content: reasoning === '' ? undefined : reasoning,
    tool_calls: calls.length === 0 ? undefined : calls.map(renderCall),
    annotations: annotations.length === 0 ? undefined : annotations,
    images: images.length === 0 ? undefined : images.map(renderImage),
    extra_content: textSignatureOf(parts),
  };
}

/** An image that a model made, in OpenRouter's form: OpenAI's has none (https://openrouter.ai/docs/features/multimodal/image-generation, 2026-11-28). */
export function renderImage(url: string, index: number): WritableJson {
  return { type: 'image_url', image_url: { url }, index };
}

function textOf(parts: readonly Part[], kind: 'text' | 'reasoning' | 'refusal'): string {
  let text = '';
  for (const part of parts) if (part.kind === kind) text += part.text;
  return text;
}

function renderCall({ id, name, tool, arguments: text, host_data }: ToolCallPart): WritableJson {
  const extra_content = renderSignature(host_data);
  if (tool === 'custom') return { id, type: tool, custom: { name, input: text }, extra_content };
  return { id, type: tool, function: { name, arguments: text === '' ? '{}' : text }, extra_content };
}

/** `extra_content` with Google's signature, as its own chat endpoint has it; undefined: the part has none. */
export function renderSignature(host_data: Native | undefined): WritableJson | undefined {
  const thought_signature = unpackSignature(host_data);
  return thought_signature === null ? undefined : { google: { thought_signature } };
}

/** The message has room for one: that of the last text. */
function textSignatureOf(parts: readonly Part[]): WritableJson | undefined {
  const last = parts.findLast((part) => part.kind === 'text' && unpackSignature(part.host_data) !== null);
  return last?.kind === 'text' ? renderSignature(last.host_data) : undefined;
}

function annotationsOf(parts: readonly Part[]): WritableJson[] {
  let start = 0;
  return parts.flatMap((part) => {
    if (part.kind !== 'text') return [];
    const annotations = renderAnnotations(part.citations, start, part.text.length);
    start += part.text.length;
    return annotations;
  });
}
