/** Holds the state that the connections of one fake upstream share: scripts, the book, the reading speed. */

import { type Answer, errorAnswer, hugeErrorAnswer, JSON_HEADERS, STREAM_HEADERS } from './answer/answer.ts';
import { plainPart, recordPart, utf8 } from './answer/body-part.ts';
import { type AnswerWanted, chooseAnswer, speechAnswer, unknownModelAnswer } from './answer/choose-answer.ts';
import { bendAnswer } from './answer/content-faults.ts';
import type { Step } from './answer/plan-answer.ts';
import { plainSpeech, scriptedSpeech } from './answer/speech.ts';
import type { FakeRequest } from './http/parse-request.ts';
import type { Scenario, SlowReading } from './scenario.ts';
import type { ServedBook } from './served.ts';

export interface Rig {
  readonly book: ServedBook;
  readonly recordingsDir: string;
  /** Per model the scenarios of its next calls; the last one repeats. */
  readonly scripts: Map<string, Scenario[]>;
  /** Unscripted short answers, by what they depend on. */
  readonly prepared: Map<string, PreparedAnswer>;
  slowReading: SlowReading | null;
  /** Number of scripted `say` answers so far. */
  said: number;
}

/** An unscripted answer, planned once. */
export interface PreparedAnswer {
  readonly status: number;
  readonly steps: Iterable<Step>;
}

/** Returns the scenario for a model's next call; removes it from the list unless it is the last. */
export function takeScenario(rig: Rig, model: string): Scenario | null {
  const scripted = rig.scripts.get(model);
  if (scripted === undefined) return null;
  return (scripted.length > 1 ? scripted.shift() : scripted[0]) ?? null;
}

/** The echo's text: the request as received, as JSON. Invalid UTF-8 in a body shows replacement characters. */
export function echoOf(request: FakeRequest): string {
  const { method, target, headers, body } = request;
  return JSON.stringify({ method, target, headers, body: new TextDecoder().decode(body) });
}

function verbatimAnswer(bytes: Uint8Array, stream: boolean): Answer {
  const parts = bytes.byteLength === 0 ? [] : [plainPart(bytes)];
  return { status: 200, headers: stream ? STREAM_HEADERS : JSON_HEADERS, stream: false, parts };
}

/** The scenario's own body, or the answer it names, before faults. */
function sourceAnswer(rig: Rig, scenario: Scenario, wanted: AnswerWanted, request: FakeRequest): Answer {
  if (scenario.hollow === true) return verbatimAnswer(new Uint8Array(0), wanted.stream);
  if (scenario.body !== undefined) return verbatimAnswer(utf8(scenario.body), false);
  if (scenario.bodyBase64 !== undefined) {
    return verbatimAnswer(new Uint8Array(Buffer.from(scenario.bodyBase64, 'base64')), false);
  }
  if (scenario.json !== undefined) return verbatimAnswer(utf8(JSON.stringify(scenario.json)), false);
  if (scenario.records !== undefined) {
    return { status: 200, headers: STREAM_HEADERS, stream: true, parts: scenario.records.map(recordPart) };
  }
  if (scenario.errorBodyBytes !== undefined) {
    return hugeErrorAnswer(wanted.protocol, scenario.status ?? 500, scenario.errorBodyBytes);
  }
  if (scenario.say !== undefined) {
    rig.said += 1;
    return speechAnswer(wanted, scriptedSpeech(scenario.say, rig.said));
  }
  if (scenario.echo === true) return speechAnswer(wanted, plainSpeech(echoOf(request)));
  const status = scenario.status ?? 200;
  if (scenario.answer === undefined && status >= 400) {
    return errorAnswer(wanted.protocol, status, `scripted status ${status}`);
  }
  const name = scenario.answer ?? 'ok';
  return chooseAnswer(name, wanted, rig.recordingsDir) ?? unknownModelAnswer(wanted.protocol, name);
}

/** The answer to a call under its scenario, with content faults; the plan adds timing and framing. */
export function scriptedAnswer(rig: Rig, scenario: Scenario, wanted: AnswerWanted, request: FakeRequest): Answer {
  return bendAnswer(sourceAnswer(rig, scenario, wanted, request), scenario, wanted.protocol);
}
