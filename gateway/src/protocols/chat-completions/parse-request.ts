/** Owns reading a checked chat-completions body into the canonical request. What becomes of each member stands in request-members.ts. */
import type { GenerationRequest } from '../../generation/request.ts';
import { type JsonNode, type JsonOutline, member } from '../../wire/json-node.ts';
import { checkBoolean } from '../check-member.ts';
import type { TranslationNotes } from '../translation-notes.ts';
import { judgeMembers } from './judge-members.ts';
import { parseCacheMark } from './parse-cache-mark.ts';
import { parseReasoningOptions } from './parse-reasoning-options.ts';
import { parseToolChoice } from './parse-tool-choice.ts';
import { parseTools } from './parse-tools.ts';
import { parseTurns } from './parse-turns.ts';
import { checkStreamOptions, parseEndUser, parseOutputFormat, parseStop, parseWebSearch } from './parse-wishes.ts';
import {
  given,
  type RequestReading,
  readIntegerFeature,
  readName,
  readNumberFeature,
  readObject,
  readOptionalBoolean,
  readTextFeature,
} from './read-member.ts';

const PENALTY = [-2, 2] as const;

/** The outline must reach `TRANSLATION_OUTLINE_DEPTH`. Throws CallFailure `invalid_request` that names the member at fault. */
export function parseRequest(outline: JsonOutline, notes: TranslationNotes): GenerationRequest {
  const root = readObject(outline.root, 'body', 'a JSON object');
  const reading: RequestReading = { notes, named: {} };
  judgeMembers(root, reading);
  const streamNode = member(root, 'stream');
  const stream = streamNode !== undefined && checkBoolean(streamNode, 'stream');
  checkStreamOptions(root, stream, reading);
  return {
    model: readName(given(root, 'model'), 'model', 'the name of a model'),
    stream,
    turns: parseTurns(root, reading),
    tools: parseTools(root, reading),
    tool_choice: parseToolChoice(root, reading),
    parallel_tool_calls: parseParallel(root, reading),
    outputTokensMax: parseOutputLimit(root, reading),
    stop: parseStop(root, reading),
    temperature: readNumberFeature(root, 'temperature', [0, 2], reading),
    top_p: readNumberFeature(root, 'top_p', [0, 1], reading),
    top_k: readIntegerFeature(root, 'top_k', 'top_k', -1, reading),
    frequency_penalty: readNumberFeature(root, 'frequency_penalty', PENALTY, reading),
    presence_penalty: readNumberFeature(root, 'presence_penalty', PENALTY, reading),
    seed: readIntegerFeature(root, 'seed', 'seed', Number.MIN_SAFE_INTEGER, reading),
    reasoning: parseReasoningOptions(root, reading),
    output_format: parseOutputFormat(root, reading),
    verbosity: readTextFeature(root, 'verbosity', 'verbosity', reading),
    end_user: parseEndUser(root, reading),
    service_tier: readTextFeature(root, 'service_tier', 'service_tier', reading),
    cache_mark: parseCacheMark(root, '', reading),
    web_search: parseWebSearch(root, reading),
    named: reading.named,
  };
}

function parseParallel(root: JsonNode, reading: RequestReading): boolean | null {
  const parallel = readOptionalBoolean(root, 'parallel_tool_calls', 'parallel_tool_calls');
  if (parallel !== null) reading.named.parallel_tool_calls = 'parallel_tool_calls';
  return parallel;
}

/** The newer member wins (wire reference C.8, 42); the older is named where it asked for something else. */
function parseOutputLimit(root: JsonNode, reading: RequestReading): number | null {
  const older = readIntegerFeature(root, 'max_tokens', 'output_limit', 1, reading);
  const newer = readIntegerFeature(root, 'max_completion_tokens', 'output_limit', 1, reading);
  if (newer !== null && older !== null && newer !== older) {
    reading.notes.drop('max_tokens', 'max_completion_tokens is set beside it and wins');
  }
  return newer ?? older;
}
