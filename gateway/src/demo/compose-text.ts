/** Composes the sentences of the demo model: its plain-text answer and the thinking it shows. */
import type { DocumentPart, MediaPart, Source } from '../generation/part.ts';
import type { CallableTool } from './choose-tools.ts';
import { excerptText } from './excerpt.ts';
import type { Prompt, ToolResult } from './read-prompt.ts';

/** For the answers 0, 1, 2 … to one prompt. */
const OPENINGS = [
  "This is Tollgate's built-in demo model. It runs offline, so no account was needed for this answer.",
  "You are talking to Tollgate's built-in demo model, which answers offline and needs no account.",
  "Tollgate's built-in demo model here: no provider was called for this answer, and none is needed to try things out.",
];
const ADVICE =
  'I do not reason as a real model does, but the key, the stream and the record of this call are real. ' +
  'Add a provider to the configuration to get real answers from the same address.';
const RESULTS_QUOTED_MAX = 8;
const MEDIA_DESCRIBED_MAX = 5;

/** The plain-text answer. Several answers to one prompt differ by their number. */
export function composeText(prompt: Prompt, answer: number): string {
  const opening = OPENINGS[answer % OPENINGS.length];
  const variant = answer < OPENINGS.length ? [] : [`This is answer ${answer + 1}.`];
  const about = prompt.results.length > 0 ? quoteResults(prompt.results) : [describeMessage(prompt)];
  return [opening, ...variant, ...about, ...describeMedia(prompt.media), ADVICE].join(' ');
}

/** The thinking that the model shows. */
export function composeThinking(prompt: Prompt, tools: readonly CallableTool[]): string {
  const asked = excerptText(prompt.text, 80);
  const read = asked === '' ? 'The last user message has no text.' : `The user wrote: “${asked}”.`;
  if (tools.length > 0) return `${read} I should call ${tools.map((tool) => tool.name).join(' and ')} before I answer.`;
  if (prompt.results.length > 0) return `${read} The tools have answered, so I can sum up what they returned.`;
  if (prompt.request.output_format !== null) return `${read} The answer has to be JSON of the given form.`;
  return `${read} No tool is needed. I will say who I am and answer in a few plain sentences.`;
}

function describeMessage({ text, userTurns }: Prompt): string {
  const excerpt = excerptText(text, 120);
  if (excerpt === '') return 'Your last message has no text.';
  const kind = /[?？]\s*$/u.test(text.slice(-20)) ? 'asked' : 'wrote';
  const turn = userTurns > 1 ? `In turn ${userTurns} of our conversation you` : 'You';
  return `${turn} ${kind}: “${excerpt}”`;
}

function quoteResults(results: readonly ToolResult[]): readonly string[] {
  const quoted = results.slice(0, RESULTS_QUOTED_MAX).map(({ name, text, isError }) => {
    const excerpt = excerptText(text, 300);
    if (isError) return `The tool ${name} failed: ${excerpt === '' ? 'it did not say why.' : `“${excerpt}”`}`;
    return excerpt === '' ? `The tool ${name} returned nothing.` : `The tool ${name} returned: “${excerpt}”`;
  });
  const more = results.length - quoted.length;
  return more > 0 ? [...quoted, `${more} more results came in.`] : quoted;
}

function describeMedia(media: ReadonlyArray<MediaPart | DocumentPart>): readonly string[] {
  return Object.entries({ image: 'image', document: 'document', audio: 'sound' }).flatMap(([kind, word]) => {
    const ofKind = media.filter((part) => part.kind === kind);
    if (ofKind.length === 0) return [];
    const described = ofKind.slice(0, MEDIA_DESCRIBED_MAX).map(({ source }) => describeSource(source));
    const more = ofKind.length > described.length ? [`${ofKind.length - described.length} more`] : [];
    const counted = `${ofKind.length} ${word}${ofKind.length > 1 ? 's' : ''}`;
    return [`I got ${counted} (${[...described, ...more].join('; ')}), which I cannot look into.`];
  });
}

function describeSource(source: Source): string {
  if (source.kind === 'text') return `text, ${describeSize(Buffer.byteLength(source.text))}`;
  if (source.kind !== 'base64') return 'type not said, size not known since I fetch nothing';
  return `${excerptText(source.media_type, 40)}, ${describeSize(Buffer.byteLength(source.base64, 'base64'))}`;
}

function describeSize(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  return bytes < 1024 ** 2 ? `${(bytes / 1024).toFixed(1)} KiB` : `${(bytes / 1024 ** 2).toFixed(1)} MiB`;
}
