/**
 * Composes the demo model's answer in canonical parts: thinking, then tool calls, JSON or plain text, within the
 * caller's limits.
 */
import type { FinishReason } from '../generation/event.ts';
import { type Part, type ToolCallPart, textPart } from '../generation/part.ts';
import { asObject } from '../protocols/json.ts';
import { type CallableTool, chooseTools } from './choose-tools.ts';
import { composeText, composeThinking } from './compose-text.ts';
import { excerptText, Material } from './excerpt.ts';
import type { Prompt } from './read-prompt.ts';
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
  const said = tools.length > 0 ? callTools(tools, prompt, callIdPrefix, left) : sayText(prompt, answer, left);
  if (thinking === '') return said;
  const text = prompt.thinking === 'hidden' ? '' : thinking;
  const part: Part = { kind: 'reasoning', text, signature: signReasoning(thinking), redacted: false, issuer };
  return { ...said, parts: [part, ...said.parts], outputTokens: reasoningTokens + said.outputTokens, reasoningTokens };
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
