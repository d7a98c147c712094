/**
 * Composes the demo model's answer in canonical parts: thinking, then the tool calls it chooses, JSON or plain text,
 * within the caller's limits.
 */
import type { FinishReason } from '../generation/event.ts';
import {
  type DocumentPart,
  type MediaPart,
  type Part,
  type Source,
  type ToolCallPart,
  textPart,
} from '../generation/part.ts';
import type { Tool } from '../generation/request.ts';
import { asObject } from '../protocols/json.ts';
import { refuseMember } from '../protocols/request/translation-notes.ts';
import { excerptText, Material, type Prompt, type ToolResult } from './read-prompt.ts';
import { synthesizeJson } from './synthesize-json.ts';

export interface Answer {
  readonly parts: readonly Part[];
  readonly finish_reason: FinishReason;
  readonly stop_sequence: string | null;
  readonly outputTokens: number;
  /** A part of `outputTokens`. */
  readonly reasoningTokens: number;
}

const BYTES_PER_TOKEN = 4;

/**
 * `answer`: 0 for the first of several answers to one prompt. `callIdPrefix`: the number of the tool call follows.
 * `issuer`: the protocol that the thinking is signed in. Throws CallFailure `invalid_request` for a schema or a tool
 * choice that cannot be satisfied.
 */
export function composeAnswer(prompt: Prompt, answer: number, callIdPrefix: string, issuer: string): Answer {
  const tokensMax = prompt.request.outputTokensMax ?? Number.MAX_SAFE_INTEGER;
  const tools = chooseTools(prompt);
  const thinking = prompt.thinking === 'none' ? '' : cutToTokens(composeThinking(prompt, tools), tokensMax);
  const reasoningTokens = countTokens(thinking);
  const left = tokensMax - reasoningTokens;
  const answered = tools.length > 0 ? callTools(tools, prompt, callIdPrefix, left) : sayText(prompt, answer, left);
  if (thinking === '') return answered;
  const text = prompt.thinking === 'hidden' ? '' : thinking;
  const part: Part = { kind: 'reasoning', text, signature: signReasoning(thinking), redacted: false, issuer };
  return {
    ...answered,
    parts: [part, ...answered.parts],
    outputTokens: reasoningTokens + answered.outputTokens,
    reasoningTokens,
  };
}

/** Takes the place of a provider's signature of thinking. Proves nothing. */
export function signReasoning(text: string): string {
  return new Bun.CryptoHasher('sha512').update(text).digest('base64');
}

/** Omits a call that the limit would cut: half of its JSON is useless. */
function callTools(tools: readonly CallableTool[], prompt: Prompt, callIdPrefix: string, tokensMax: number): Answer {
  const parts: ToolCallPart[] = [];
  let outputTokens = 0;
  for (const [index, tool] of tools.entries()) {
    const { name, kind } = tool;
    const text = kind === 'custom' ? excerptText(prompt.text, 400) : composeArguments(prompt, tool.parameters);
    const tokens = countTokens(name) + countTokens(text);
    if (outputTokens + tokens > tokensMax) break;
    outputTokens += tokens;
    const id = `${callIdPrefix}${index}`;
    parts.push({ kind: 'tool_call', id, name, tool: kind, arguments: text, cache_mark: null });
  }
  const finish_reason = parts.length < tools.length ? 'length' : 'tool_calls';
  return { parts, finish_reason, stop_sequence: null, outputTokens, reasoningTokens: 0 };
}

/** Arguments are an object, whatever their schema says. */
function composeArguments(prompt: Prompt, parameters: string | null): string {
  const schema: object = JSON.parse(parameters ?? '{}');
  return JSON.stringify(asObject(fillSchema({ type: 'object', ...schema }, prompt, 'tools')) ?? {});
}

function sayText(prompt: Prompt, answer: number, tokensMax: number): Answer {
  const { output_format, stop } = prompt.request;
  const draft = output_format === null ? composeText(prompt, answer) : composeJson(prompt);
  // Of two stop texts at one position, the one that the caller listed first counts.
  const [first] = stop
    .map((word) => ({ word, at: word === '' ? -1 : draft.indexOf(word) }))
    .filter(({ at }) => at >= 0)
    .sort((one, other) => one.at - other.at);
  const whole = first === undefined ? draft : draft.slice(0, first.at);
  const text = cutToTokens(whole, tokensMax);
  const stop_sequence = text === whole ? (first?.word ?? null) : null;
  const finish_reason = text !== whole ? 'length' : stop_sequence === null ? 'stop' : 'stop_sequence';
  const parts = text === '' ? [] : [textPart(text)];
  return { parts, finish_reason, stop_sequence, outputTokens: countTokens(text), reasoningTokens: 0 };
}

function composeJson(prompt: Prompt): string {
  const format = prompt.request.output_format;
  if (format?.kind === 'json_schema')
    return JSON.stringify(fillSchema(JSON.parse(format.schema), prompt, 'output_format'));
  return JSON.stringify({ model: "Tollgate's built-in demo model", you_wrote: excerptText(prompt.text, 120) });
}

function fillSchema(schema: unknown, { text, request }: Prompt, feature: 'tools' | 'output_format'): unknown {
  const member = request.named[feature] ?? feature;
  return synthesizeJson(schema, { material: new Material(text), member, mustFit: feature === 'output_format' });
}

/** The demo model's token: four bytes of UTF-8, rounded up. */
function countTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);
}

/** Never splits a character. */
function cutToTokens(text: string, tokensMax: number): string {
  if (countTokens(text) <= tokensMax) return text;
  const bytes = Buffer.from(text);
  return bytes.toString('utf8', 0, tokensMax * BYTES_PER_TOKEN).replace(/\uFFFD+$/, '');
}

/** A tool that runs at the client. The demo model runs no tools and does not know the arguments of built-in ones. */
type CallableTool = Exclude<Tool, { readonly kind: 'opaque' }>;

/** One word of the tool's name makes a match, or this many words of its description. */
const MATCH_POINTS = 3;
/** A longer part of a description would match any message. */
const DESCRIPTION_CHARS_READ = 200;
const PARALLEL_MAX = 2;

/** Words that say nothing about a tool's purpose. */
const WORDS = `the and for with this that from what how you your are can could would will please have has does about into which
  get set run make use call tool function one some any given specific return returns want need like tell give show`;
const EMPTY_WORDS = new Set(WORDS.split(/\s+/));

/**
 * The tools to call now, at most two. A forced choice is always called. Otherwise a tool is called when the last user
 * message shares words with its name or description, and the conversation does not end with tool results.
 */
function chooseTools({ request, text, results }: Prompt): readonly CallableTool[] {
  const choice = request.tool_choice ?? { kind: 'auto' };
  if (choice.kind === 'none') return [];
  const mode = choice.kind === 'allowed' ? choice.mode : choice.kind;
  const names = choice.kind === 'tool' ? [choice.name] : choice.kind === 'allowed' ? choice.names : null;
  const callable = request.tools.filter((tool) => tool.kind !== 'opaque');
  const offered = callable.filter(({ name }) => names === null || names.includes(name));
  if (mode !== 'auto' && offered.length === 0) {
    const member = request.named.tool_choice ?? 'tool_choice';
    throw refuseMember(member, 'asks for a tool, but allows none of `tools` that the demo model can call; send one');
  }
  if (mode === 'tool') return offered.slice(0, 1);
  if (mode === 'auto' && results.length > 0) return [];
  const matches = rankTools(offered, text).slice(0, request.parallel_tool_calls === false ? 1 : PARALLEL_MAX);
  return matches.length === 0 && mode === 'required' ? offered.slice(0, 1) : matches;
}

/** The matching tools, best first; on a tie, the one offered first. */
function rankTools(tools: readonly CallableTool[], text: string): readonly CallableTool[] {
  const wanted = findWords(excerptText(text, 1_000));
  return tools
    .map((tool) => ({ tool, points: scoreTool(tool, wanted) }))
    .filter(({ points }) => points >= MATCH_POINTS)
    .sort((one, other) => other.points - one.points)
    .map(({ tool }) => tool);
}

function scoreTool(tool: CallableTool, wanted: ReadonlySet<string>): number {
  const name = findWords(tool.name.replace(/([a-z0-9])([A-Z])/g, '$1 $2').replace(/[_-]+/g, ' '));
  const described = findWords((tool.description ?? '').slice(0, DESCRIPTION_CHARS_READ));
  let points = 0;
  for (const word of wanted) {
    if (name.has(word)) points += MATCH_POINTS;
    else if (described.has(word)) points += 1;
  }
  return points;
}

function findWords(text: string): ReadonlySet<string> {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? [];
  return new Set(words.filter((word) => !EMPTY_WORDS.has(word)).map(stem));
}

/** Removes the plain plural and verb endings of English: `cities` becomes `city`, `searching` becomes `search`. */
function stem(word: string): string {
  return word.replace(/ies$/, 'y').replace(/(?<=...)(?:ing|ed|(?<!s)s)$/, '');
}

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
function composeText(prompt: Prompt, answer: number): string {
  const opening = OPENINGS[answer % OPENINGS.length];
  const variant = answer < OPENINGS.length ? [] : [`This is answer ${answer + 1}.`];
  const about = prompt.results.length > 0 ? quoteResults(prompt.results) : [describeMessage(prompt)];
  return [opening, ...variant, ...about, ...describeMedia(prompt.media), ADVICE].join(' ');
}

/** The thinking that the model shows. */
function composeThinking(prompt: Prompt, tools: readonly CallableTool[]): string {
  const excerpt = excerptText(prompt.text, 80);
  const read = excerpt === '' ? 'The last user message has no text.' : `The user wrote: “${excerpt}”.`;
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
