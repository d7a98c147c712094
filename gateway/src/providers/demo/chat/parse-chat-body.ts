/** Owns the reading of a chat completions request into a prompt. Messages and tools are read by their own files. */
import { BodyProblem, refuse } from '../body-problem.ts';
import {
  checkArray,
  checkBoolean,
  checkNumber,
  checkObject,
  checkStops,
  checkText,
  checkWord,
  type NumberRange,
} from '../check-member.ts';
import { isAbsent, isObject, type JsonObject } from '../json-value.ts';
import type { Prompt } from '../prompt.ts';
import { parseChatFormat } from './parse-chat-format.ts';
import { parseChatMessages } from './parse-chat-messages.ts';
import { parseChatTools } from './parse-chat-tools.ts';

export interface ChatPrompt extends Prompt {
  /** How many answers are wanted, 1 to 8. */
  readonly choices: number;
  readonly includeUsage: boolean;
}

const RANGES: Readonly<Record<string, NumberRange>> = {
  temperature: { min: 0, max: 2 },
  top_p: { min: 0, max: 1 },
  frequency_penalty: { min: -2, max: 2 },
  presence_penalty: { min: -2, max: 2 },
  seed: { min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER, integer: true },
};
const TOKENS: NumberRange = { min: 1, max: Number.MAX_SAFE_INTEGER, integer: true };
const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];
const STOPS_MAX = 4;

/** What a provider may decline and this one does; the reason completes "the demo model …". */
const UNSUPPORTED: Readonly<Record<string, string>> = {
  functions: 'takes `tools` instead of the deprecated `functions`',
  function_call: 'takes `tool_choice` instead of the deprecated `function_call`',
  top_logprobs: 'has no log probabilities; leave it out',
  audio: 'does not speak; leave it out',
};

/** Reads the body or throws a BodyProblem. Members that only tune a real model are checked and have no effect here. */
export function parseChatBody(body: unknown): ChatPrompt {
  if (!isObject(body)) return refuse([], body, 'a JSON object with `model` and `messages`');
  const model = checkText(body.model, ['model'], 'the name of a model');
  for (const [name, range] of Object.entries(RANGES)) checkNumber(body[name], [name], range);
  refuseUnsupported(body);
  const stream = checkBoolean(body.stream, ['stream']);
  const effort = checkWord(body.reasoning_effort, ['reasoning_effort'], EFFORTS);
  return {
    model,
    stream,
    includeUsage: parseIncludeUsage(body, stream),
    choices: checkNumber(body.n, ['n'], { min: 1, max: 8, integer: true }) ?? 1,
    tokensMax: parseTokensMax(body),
    stops: parseStops(body.stop),
    thinking: effort === null || effort === 'none' ? 'none' : 'shown',
    format: parseChatFormat(body.response_format),
    ...parseChatTools(body),
    ...parseChatMessages(body.messages),
  };
}

function refuseUnsupported(body: JsonObject): void {
  for (const [name, reason] of Object.entries(UNSUPPORTED)) {
    if (!isAbsent(body[name])) throw new BodyProblem([name], `found a value; the demo model ${reason}`);
  }
  if (checkBoolean(body.logprobs, ['logprobs'])) {
    throw new BodyProblem(['logprobs'], 'found true; the demo model has no log probabilities: leave it out');
  }
  if (isAbsent(body.modalities)) return;
  for (const [at, modality] of checkArray(body.modalities, ['modalities']).entries()) {
    checkWord(modality, ['modalities', at], ['text']);
  }
}

function parseIncludeUsage(body: JsonObject, stream: boolean): boolean {
  if (isAbsent(body.stream_options)) return false;
  const path = ['stream_options'];
  const wanted = checkObject(body.stream_options, path);
  if (!stream) throw new BodyProblem(path, 'found it without `stream: true`; leave it out or ask for a stream');
  checkBoolean(wanted.include_obfuscation, [...path, 'include_obfuscation']);
  return checkBoolean(wanted.include_usage, [...path, 'include_usage']);
}

function parseTokensMax(body: JsonObject): number | null {
  const legacy = checkNumber(body.max_tokens, ['max_tokens'], TOKENS);
  const current = checkNumber(body.max_completion_tokens, ['max_completion_tokens'], TOKENS);
  if (legacy !== null && current !== null) {
    throw new BodyProblem(['max_tokens'], 'found it beside `max_completion_tokens`; send only one of them');
  }
  return current ?? legacy;
}

function parseStops(stop: unknown): readonly string[] {
  if (isAbsent(stop)) return [];
  if (typeof stop === 'string') return [checkText(stop, ['stop'], 'a text of at least one character')];
  const stops = checkArray(stop, ['stop'], 'a string or an array of strings');
  if (stops.length > STOPS_MAX) refuse(['stop'], stop, `an array of at most ${STOPS_MAX}`);
  return checkStops(stops, ['stop']);
}
