/** Renders requests for Bedrock's Converse, and parses its answers and streams, for the tests of this format. */
import { AWS_EVENT_STREAM } from '../../../framing/aws-event-stream.ts';
import { encodeEvent, encodeException } from '../../../framing/testing/encode-frame.ts';
import type { GenerationEvent } from '../../../generation/event.ts';
import type { GenerationRequest } from '../../../generation/request.ts';
import { requestOf } from '../../../generation/testing/request-of.ts';
import { startTranslationNotes } from '../../request/translation-notes.ts';
import { CAPABLE } from '../../testing/capable-upstream.ts';
import type { UpstreamTraits } from '../../upstream-traits.ts';
import { startStreamParser } from '../upstream/parse-stream.ts';
import { renderRequest } from '../upstream/render-request.ts';

export const CLAUDE = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0';
export const NOVA = 'us.amazon.nova-2-lite-v1:0';
export const GPT_OSS = 'openai.gpt-oss-120b-1:0';
export const MISTRAL = 'mistral.mistral-large-3-675b-instruct';
export const LLAMA = 'us.meta.llama4-maverick-17b-instruct-v1:0';

/** A model with a known name only. */
export function traitsOf(model: string, changes: Partial<UpstreamTraits> = {}): UpstreamTraits {
  return { ...CAPABLE, model, takes: { ...CAPABLE.takes, structured_output: null }, ...changes };
}

/** The body for a model, and what was dropped. */
export function render(changes: Partial<GenerationRequest>, model = CLAUDE, traits = traitsOf(model), strict = false) {
  const notes = startTranslationNotes(strict);
  const rendered = renderRequest(requestOf(changes), traits, notes);
  return { ...rendered, body: JSON.parse(rendered.json), dropped: notes.dropped };
}

/** One event of a stream: its type and payload; an exception's type begins with `!`, and it has a message. */
export type Sent = readonly [type: string, payload: object | string];

/** The events that the frames give, and those of a clean end of the bytes. */
export function parseFrames(sent: readonly Sent[]): readonly GenerationEvent[] {
  const parser = startStreamParser();
  const events: GenerationEvent[] = [];
  const frames = sent.map(([type, payload]) =>
    typeof payload === 'string' ? encodeException(type, payload) : encodeEvent(type, { ...payload, p: 'abc' }),
  );
  AWS_EVENT_STREAM.startDecoder(1_000_000, null).feed(Buffer.concat(frames), (output) => {
    if (output.kind === 'event') events.push(...parser.push(output));
  });
  return [...events, ...parser.finish()];
}
