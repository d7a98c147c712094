/** Owns the sentences of the demo model. What it decides to do is settled before. */
import { excerptText } from './excerpt.ts';
import type { Media, Prompt, Tool, ToolResult } from './prompt.ts';

/** Openings for the choices 0, 1, 2 … of one prompt. */
const OPENINGS = [
  "This is Tollgate's built-in demo model. It runs offline, so no account was needed for this answer.",
  "You are talking to Tollgate's built-in demo model, which answers offline and needs no account.",
  "Tollgate's built-in demo model here: no provider was called for this answer, and none is needed to try things out.",
];
const ADVICE =
  'I do not reason as a real model does, but the key, the stream and the record of this call are real. ' +
  'Add a provider to the configuration to get real answers from the same address.';
const RESULTS_QUOTED_MAX = 8;

/** The visible answer in plain words. */
export function composeText(prompt: Prompt, choice: number): string {
  const opening = OPENINGS[choice % OPENINGS.length];
  const variant = choice < OPENINGS.length ? [] : [`This is answer ${choice + 1}.`];
  const about = prompt.results.length > 0 ? quoteResults(prompt.results) : [describeMessage(prompt)];
  return [opening, ...variant, ...about, ...describeMedia(prompt.media), ADVICE].join(' ');
}

/** What the model shows of its thinking. */
export function composeThinking(prompt: Prompt, tools: readonly Tool[]): string {
  const asked = excerptText(prompt.lastUserText, 80);
  const read = asked === '' ? 'The last user message has no text.' : `The user wrote: “${asked}”.`;
  if (tools.length > 0) return `${read} I should call ${tools.map((tool) => tool.name).join(' and ')} before I answer.`;
  if (prompt.results.length > 0) return `${read} The tools have answered, so I can sum up what they returned.`;
  if (prompt.format !== null) return `${read} The answer has to be JSON of the given form.`;
  return `${read} No tool is needed. I will say who I am and answer in a few plain sentences.`;
}

function describeMessage({ lastUserText, userTurns }: Prompt): string {
  const excerpt = excerptText(lastUserText, 120);
  if (excerpt === '') return 'Your last message has no text.';
  const kind = /[?？]\s*$/u.test(lastUserText.slice(-20)) ? 'asked' : 'wrote';
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

function describeMedia(media: readonly Media[]): readonly string[] {
  return (['image', 'document', 'sound'] as const).flatMap((kind) => {
    const ofKind = media.filter((medium) => medium.kind === kind);
    if (ofKind.length === 0) return [];
    const sizes = ofKind
      .slice(0, 5)
      .map((medium) => `${medium.mediaType ?? 'type not said'}, ${describeSize(medium.bytes)}`);
    const more = ofKind.length > sizes.length ? [`${ofKind.length - sizes.length} more`] : [];
    return [
      `I got ${ofKind.length} ${kind}${ofKind.length > 1 ? 's' : ''} (${[...sizes, ...more].join('; ')}), which I cannot look into.`,
    ];
  });
}

function describeSize(bytes: number | null): string {
  if (bytes === null) return 'size not known since I fetch nothing';
  if (bytes < 1024) return `${bytes} bytes`;
  return bytes < 1024 ** 2 ? `${(bytes / 1024).toFixed(1)} KiB` : `${(bytes / 1024 ** 2).toFixed(1)} MiB`;
}
