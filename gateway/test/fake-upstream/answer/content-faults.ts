/** Applies the content faults of a scenario: usage or end left out, a broken event or an error event. */

import { errorRecord, isEndRecord, malformedRecord, type Protocol } from '../protocol.ts';
import type { Scenario } from '../scenario.ts';
import type { Answer } from './answer.ts';
import { type BodyPart, isObject, plainPart, recordPart, sseDataOf, textOf, utf8 } from './body-part.ts';

function withoutUsageMember(parsed: Record<string, unknown>): Record<string, unknown> {
  const { usage: _usage, ...rest } = parsed;
  if (!isObject(rest.message)) return rest;
  const { usage: _startUsage, ...message } = rest.message;
  return { ...rest, message };
}

/** The part without its usage; null if it contained nothing else (the usage chunk of a chat stream). */
function partWithoutUsage(part: BodyPart, stream: boolean): BodyPart | null {
  const text = textOf(part.bytes);
  const json = stream ? sseDataOf(text) : text;
  if (json === null || !json.includes('"usage"')) return part;
  let parsed: unknown;
  try {
    parsed = JSON.parse(json);
  } catch {
    return part;
  }
  if (!isObject(parsed)) return part;
  if (Array.isArray(parsed.choices) && parsed.choices.length === 0) return null;
  const rendered = JSON.stringify(withoutUsageMember(parsed));
  if (!stream) return plainPart(utf8(rendered));
  const others = text.split(/\r\n|\r|\n/).filter((line) => line !== '' && !line.startsWith('data:'));
  return recordPart([...others, `data: ${rendered}`, '', ''].join('\n'));
}

function* bentParts(answer: Answer, scenario: Scenario, protocol: Protocol): Generator<BodyPart> {
  let event = 0;
  for (const original of answer.parts) {
    // The usage of Converse is a frame of its own.
    if (scenario.omitUsage === true && protocol === 'converse' && original.usage !== null && answer.stream) continue;
    const part = scenario.omitUsage === true ? partWithoutUsage(original, answer.stream) : original;
    if (part === null) continue;
    if (scenario.omitEnd === true && answer.stream && isEndRecord(protocol, textOf(part.bytes))) continue;
    event += 1;
    if (event === scenario.errorEvent) {
      yield errorRecord(protocol);
      return;
    }
    yield event === scenario.malformedEvent ? malformedRecord(protocol) : part;
  }
}

/** Returns the answer with the scenario's content faults. Stays lazy, so an endless answer remains possible. */
export function bendAnswer(answer: Answer, scenario: Scenario, protocol: Protocol): Answer {
  const untouched =
    scenario.omitUsage !== true &&
    scenario.omitEnd !== true &&
    scenario.errorEvent === undefined &&
    scenario.malformedEvent === undefined;
  if (untouched) return answer;
  return { ...answer, parts: { [Symbol.iterator]: () => bentParts(answer, scenario, protocol) } };
}
