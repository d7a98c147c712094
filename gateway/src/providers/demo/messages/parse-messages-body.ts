/** Owns the reading of a messages request and of a count_tokens request into a prompt. Turns and tools have own files. */
import { BodyProblem, refuse } from '../body-problem.ts';
import { checkArray, checkBoolean, checkNumber, checkObject, checkStops, checkText } from '../check-member.ts';
import { isAbsent, isObject, type JsonObject } from '../json-value.ts';
import type { Prompt } from '../prompt.ts';
import { parseMessagesFormat } from './parse-messages-format.ts';
import { parseMessagesTools } from './parse-messages-tools.ts';
import { parseTextBlocks } from './parse-text-blocks.ts';
import { parseThinking } from './parse-thinking.ts';
import { parseTurns } from './parse-turns.ts';

/** The version from which sampling parameters and two uses of blocks are refused (the vendor's migration page, 2026-10-21). */
const VERSION_WITHOUT_SAMPLING = '2026-10-21';

const TOKENS = { min: 0, max: Number.MAX_SAFE_INTEGER, integer: true };
const SAMPLING = {
  temperature: { min: 0, max: 1 },
  top_p: { min: 0, max: 1 },
  top_k: { min: 0, max: Number.MAX_SAFE_INTEGER, integer: true },
};

/** Reads the body or throws a BodyProblem. Members that only tune a real model are checked and have no effect here. */
export function parseMessagesBody(body: unknown, version: string | undefined): Prompt {
  const { tokensMax, ...rest } = parseCommon(body, version);
  return {
    ...rest,
    tokensMax: tokensMax ?? refuse(['max_tokens'], undefined, 'an integer of at least 0: the field is required'),
  };
}

/** The same body, of which `max_tokens` may be missing. */
export function parseCountBody(body: unknown, version: string | undefined): void {
  parseCommon(body, version);
}

function parseCommon(body: unknown, version: string | undefined): Prompt {
  if (!isObject(body)) return refuse([], body, 'a JSON object with `model`, `max_tokens` and `messages`');
  const model = checkText(body.model, ['model'], 'the name of a model');
  const tokensMax = checkNumber(body.max_tokens, ['max_tokens'], TOKENS);
  const isLatest = version === VERSION_WITHOUT_SAMPLING;
  refuseThread(body.thread);
  checkSampling(body, isLatest);
  if (!isAbsent(body.system)) parseTextBlocks(body.system, ['system']);
  checkMetadata(body.metadata);
  return {
    model,
    tokensMax,
    stops: isAbsent(body.stop_sequences)
      ? []
      : checkStops(checkArray(body.stop_sequences, ['stop_sequences']), ['stop_sequences']),
    stream: checkBoolean(body.stream, ['stream']),
    format: parseMessagesFormat(body),
    ...parseMessagesTools(body),
    ...parseConversation(body, tokensMax, isLatest),
  };
}

function parseConversation(body: JsonObject, tokensMax: number | null, isLatest: boolean) {
  const conversation = parseTurns(body.messages, isLatest);
  return { ...conversation, thinking: parseThinking(body.thinking, tokensMax, conversation.results.length > 0) };
}

/** The demo remembers nothing between calls. The vendor's SDK (1.11) reads these details and sends the whole history instead. */
function refuseThread(thread: unknown): void {
  if (isAbsent(thread)) return;
  const details = { error_code: 'thread_unsupported_request', unsupported: ['model'] };
  throw new BodyProblem(['thread'], 'found a thread; the demo model keeps none: send the whole conversation', details);
}

function checkSampling(body: JsonObject, isLatest: boolean): void {
  for (const [name, range] of Object.entries(SAMPLING)) {
    if (isLatest && body[name] !== undefined) {
      throw new BodyProblem(
        [name],
        `found a value; version ${VERSION_WITHOUT_SAMPLING} has no \`${name}\`: leave it out`,
      );
    }
    checkNumber(body[name], [name], range);
  }
}

function checkMetadata(value: unknown): void {
  if (isAbsent(value)) return;
  const user = checkObject(value, ['metadata']).user_id;
  if (!isAbsent(user) && typeof user !== 'string') refuse(['metadata', 'user_id'], user, 'a string');
}
