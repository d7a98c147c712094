/** Reads the facts of a transcription or translation in one piece: JSON, or text where the request asked for it. */
import { NO_FLAGS } from '../../../generation/usage.ts';
import { asName, asObject } from '../../json.ts';
import type { AnswerFacts, AnswerReading } from '../../upstream-protocol.ts';
import { readAudioUsage, wholeSeconds } from './audio-usage.ts';
import { leastSecondsOf } from './least-seconds.ts';

/** `bodyBytes`: the length of the body that `answer` was parsed from. */
export function readAnswer(answer: unknown, bodyBytes: number): AnswerReading {
  const body = asObject(answer);
  const text = body?.text;
  if (body === null || typeof text !== 'string') return { kind: 'malformed', message: 'the answer has no text' };
  const seconds = wholeSeconds(body.duration);
  const facts = factsOfText(Buffer.byteLength(text), bodyBytes);
  const usage = readAudioUsage(body.usage, false);
  const counted = seconds === 0 ? { leastSeconds: leastSecondsOf(text) } : { counted: { extras: { seconds } } };
  return { kind: 'answer', facts: { ...facts, usage, usageSoFar: usage, model: asName(body.model), ...counted } };
}

/** `text`, `srt` and `vtt` report nothing. */
export function readText(body: Buffer): AnswerReading {
  const leastSeconds = leastSecondsOf(body.toString());
  return { kind: 'answer', facts: { ...factsOfText(body.length, body.length), leastSeconds } };
}

function factsOfText(outputBytes: number, outputBytesMax: number): AnswerFacts {
  return {
    usage: null,
    usageFlags: NO_FLAGS,
    usageSoFar: null,
    finish_reason: null,
    model: null,
    outputBytes,
    reasoningBytes: 0,
    outputBytesMax,
  };
}
