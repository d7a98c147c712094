/** Selects the answer for a model name before any fault: built-in, fixture or recording. */

import { listFixtures, loadFixture } from '../fixtures.ts';
import type { Protocol } from '../protocol.ts';
import { recordingBytes, recordingHeaders } from '../recording.ts';
import { loadRecording } from '../recordings.ts';
import { type Answer, errorAnswer, type HeaderLine, JSON_HEADERS, STREAM_HEADERS } from './answer.ts';
import { type BodyPart, plainPart, splitRecords } from './body-part.ts';
import { plainChatAnswer, streamedChatAnswer } from './chat-answer.ts';
import { plainConverseAnswer, streamedConverseAnswer } from './converse-answer.ts';
import { plainGeminiAnswer, streamedGeminiAnswer } from './gemini-answer.ts';
import { plainMessagesAnswer, streamedMessagesAnswer } from './messages-answer.ts';
import { plainResponsesAnswer, streamedResponsesAnswer } from './responses-answer.ts';
import { LONG_PLAIN_MAX, type Speech, speechOf } from './speech.ts';

/** The properties of a request that determine the form of its answer. */
export interface AnswerWanted {
  readonly protocol: Protocol;
  /** The model's name in the request, which the answer repeats. */
  readonly model: string;
  readonly stream: boolean;
  readonly includeUsage: boolean;
}

/** Models that answer without a script, besides `long:<n>`, `rec:<id>` and `fixture:<name>`. */
export const BUILT_IN_MODELS = ['ok', 'tool', 'think', 'endless'] as const;

function storedParts(bytes: Uint8Array, stream: boolean): BodyPart[] {
  if (bytes.byteLength === 0) return [];
  return stream ? splitRecords(bytes) : [plainPart(bytes)];
}

/** Renders a speech in the protocol and form of the request. */
export function speechAnswer(wanted: AnswerWanted, speech: Speech): Answer {
  if (wanted.protocol === 'messages') {
    return wanted.stream ? streamedMessagesAnswer(wanted.model, speech) : plainMessagesAnswer(wanted.model, speech);
  }
  if (wanted.protocol === 'responses') {
    return wanted.stream ? streamedResponsesAnswer(wanted.model, speech) : plainResponsesAnswer(wanted.model, speech);
  }
  if (wanted.protocol === 'converse') {
    return wanted.stream ? streamedConverseAnswer(speech) : plainConverseAnswer(speech);
  }
  if (wanted.protocol === 'gemini') {
    return wanted.stream ? streamedGeminiAnswer(wanted.model, speech) : plainGeminiAnswer(wanted.model, speech);
  }
  return wanted.stream
    ? streamedChatAnswer(wanted.model, speech, wanted.includeUsage)
    : plainChatAnswer(wanted.model, speech);
}

function fixtureAnswer(protocol: Protocol, name: string): Answer | null {
  const fixture = loadFixture(protocol, name);
  if (fixture === null) return null;
  const { status, stream, headers } = fixture.meta;
  const streamed = stream && status === 200;
  const extra: HeaderLine[] = Object.entries(headers ?? {});
  return {
    status,
    headers: [...(streamed ? STREAM_HEADERS : JSON_HEADERS), ...extra],
    stream: streamed,
    parts: storedParts(fixture.responseBytes, streamed),
  };
}

function recordedAnswer(id: string, recordingsDir: string): Answer | null {
  const recording = loadRecording(id, recordingsDir);
  if (recording === null) return null;
  const { status } = recording.response;
  const parts = storedParts(recordingBytes(recording), recording.stream);
  return { status, headers: recordingHeaders(recording), stream: recording.stream, parts };
}

/** Returns the answer for `name`, the request's model or a scenario's `answer`; null if no such model exists. */
export function chooseAnswer(name: string, wanted: AnswerWanted, recordingsDir: string): Answer | null {
  if (name.startsWith('rec:')) return recordedAnswer(name.slice(4), recordingsDir);
  if (name.startsWith('fixture:')) return fixtureAnswer(wanted.protocol, name.slice(8));
  const speech = speechOf(name);
  if (speech === null) return null;
  if (!wanted.stream && speech.outputTokens > LONG_PLAIN_MAX) {
    const message = `model ${name} has no end, or one beyond ${LONG_PLAIN_MAX} events: ask for it with "stream": true`;
    return errorAnswer(wanted.protocol, 400, message);
  }
  return speechAnswer(wanted, speech);
}

/** The answer for an unknown model; lists the known names. */
export function unknownModelAnswer(protocol: Protocol, model: string): Answer {
  const fixtures = listFixtures(protocol).map((name) => `fixture:${name}`);
  const known = [...BUILT_IN_MODELS, 'long:<n>', 'rec:<api>/<number>', ...fixtures].join(', ');
  return errorAnswer(
    protocol,
    404,
    `model ${JSON.stringify(model)} is neither scripted nor known here; known: ${known}`,
  );
}
