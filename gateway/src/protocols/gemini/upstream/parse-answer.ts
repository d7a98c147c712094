/**
 * Parses a non-streamed Gemini answer into the events of an equivalent stream. Also takes an array of answers: the hops
 * of a continued one, or the chunks of a stream without SSE. Reads the facts of an answer.
 */
import type { GenerationEvent } from '../../../generation/event.ts';
import type { JsonText } from '../../../generation/part.ts';
import { isTextCounted, NO_FLAGS } from '../../../generation/usage.ts';
import { elementTexts } from '../../exact-json.ts';
import { asArray, asName, asObject, type JsonObject, parseObject, textBytes } from '../../json.ts';
import type { AnswerFacts, AnswerReading } from '../../upstream-protocol.ts';
import { countSearches } from '../shared/citations.ts';
import { CONTINUATION, finishWordOf } from '../shared/finish-reasons.ts';
import { errorEvent } from '../shared/read-error.ts';
import { UsageTally } from '../shared/usage.ts';
import { AnswerReader } from './parse-stream.ts';

/** The body of a 200 as events, up to `end`; or one `error` or `malformed`. */
export function parseAnswer(body: Buffer): readonly GenerationEvent[] {
  const reader = new AnswerReader();
  const texts = answersIn(body.toString());
  if (texts.length === 0) reader.refuse('the answer is empty');
  for (const json of texts) {
    const answer = parseObject(json);
    if (answer === null) reader.refuse('the answer is not a JSON object');
    else reader.read(answer, json);
  }
  // The whole body was received, so an answer without a finish reason counts as complete; one of nothing does not.
  if (!reader.isFinished && !reader.hasParts) reader.refuse('the answer has no candidates');
  reader.close();
  const events = reader.takeEvents();
  const last = events.at(-1);
  return last === undefined || last.kind === 'end' ? events : [last];
}

/** The texts of a body's answers; one that is not JSON is its own only answer. */
function answersIn(body: JsonText): readonly JsonText[] {
  return body.trimStart().startsWith('[') && isJson(body) ? elementTexts(body) : [body];
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The body of a non-streamed 200 as the records of the requested stream; null: it is not an answer. */
export function streamOfAnswer(body: Buffer): Buffer | null {
  const texts = answersIn(body.toString());
  const answers = texts.map(parseObject);
  if (answers.length === 0 || answers.some((answer) => answer === null || answer.error !== undefined)) return null;
  return Buffer.from(texts.map((json) => `data: ${json.replaceAll(/[\r\n]/g, ' ')}\n\n`).join(''));
}

/** `answer` is the parsed body of a 200, `bodyBytes` its length. */
export function readAnswer(answer: unknown, bodyBytes: number): AnswerReading {
  const answers = (Array.isArray(answer) ? answer : [answer]).map(asObject);
  const [first] = answers;
  if (first === undefined || first === null) return { kind: 'malformed', message: 'the answer is not a JSON object' };
  const whole = answers.filter((one) => one !== null);
  const facts = factsOf(whole, bodyBytes);
  const billed = facts.usage === null ? undefined : facts;
  const error = asObject(whole.find((one) => asObject(one.error) !== null)?.error);
  const event = error === null ? null : errorEvent(error);
  if (event?.kind === 'error') return { ...event, facts: billed };
  const isAnswer = whole.some((one) => asArray(one.candidates).length > 0 || asObject(one.promptFeedback) !== null);
  return isAnswer
    ? { kind: 'answer', facts }
    : { kind: 'malformed', message: 'the answer has no candidates', facts: billed };
}

function factsOf(answers: readonly JsonObject[], bodyBytes: number): AnswerFacts {
  const tally = new UsageTally();
  let finish_reason: string | null = null;
  let model: string | null = null;
  const parts: JsonObject[] = [];
  for (const answer of answers) {
    const candidate = asObject(asArray(answer.candidates)[0]);
    if (finish_reason === CONTINUATION) tally.endHop();
    tally.take(answer.usageMetadata);
    model = asName(answer.modelVersion) ?? model;
    // A blocked prompt has no candidate.
    const blocked = finishWordOf(asObject(answer.promptFeedback)?.blockReason);
    finish_reason = finishWordOf(candidate?.finishReason) ?? finish_reason ?? blocked;
    const grounding = asObject(candidate?.groundingMetadata);
    if (grounding !== null) tally.noteSearches(countSearches(grounding, model));
    for (const part of asArray(asObject(candidate?.content)?.parts)) parts.push(asObject(part) ?? {});
  }
  const reported = tally.result();
  const usage = reported?.usage ?? null;
  const counted = isTextCounted(usage, bodyBytes) ? parts : [];
  return {
    usage,
    usageFlags: reported?.flags ?? NO_FLAGS,
    usageSoFar: usage,
    finish_reason,
    model,
    outputBytes: counted.reduce((bytes, { text, functionCall }) => bytes + textBytes([text, functionCall]), 0),
    reasoningBytes: counted.reduce((bytes, { text, thought }) => bytes + (thought === true ? textBytes(text) : 0), 0),
    outputBytesMax: bodyBytes,
  };
}
