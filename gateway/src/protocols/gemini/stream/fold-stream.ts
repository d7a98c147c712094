/**
 * Folds the chunks of a Gemini stream into the answer that the same call would have got in one piece: adjacent texts are
 * joined, other parts are kept as written. An observer judges the records.
 */
import { CallFailure } from '../../../errors/call-failure.ts';
import { dataText, type StreamRecord } from '../../../framing/framing.ts';
import type { JsonText } from '../../../generation/part.ts';
import type { Usage } from '../../../generation/usage.ts';
import { RawJson, type WritableJson, writeJson } from '../../../wire/json-writer.ts';
import { elementTexts, memberText, valueText } from '../../exact-json.ts';
import { asArray, asObject, type JsonObject, parseObject } from '../../json.ts';
import type { AnswerFold } from '../../upstream-protocol.ts';
import { renderUsage } from '../shared/usage.ts';

export function startFold(): AnswerFold {
  return new GeminiFold();
}

type FoldedPart = { readonly text: string; readonly isThought: boolean } | RawJson;

interface Candidate {
  readonly parts: FoldedPart[];
  /** Its other members; the last one of a name counts. */
  readonly members: Map<string, RawJson>;
}

class GeminiFold implements AnswerFold {
  readonly #members = new Map<string, RawJson>();
  readonly #candidates = new Map<number, Candidate>();

  push(record: StreamRecord): void {
    const json = dataText(record);
    const chunk = parseObject(json);
    if (chunk === null) return;
    for (const name of Object.keys(chunk)) if (name !== 'candidates') keep(this.#members, name, json);
    const texts = elementTexts(memberText(json, 'candidates') ?? '[]');
    for (const [place, value] of asArray(chunk.candidates).entries()) {
      const candidate = asObject(value);
      if (candidate !== null) this.#add(candidate, texts[place] ?? '{}');
    }
  }

  finish(cut: Usage | null): string {
    if (cut !== null && this.#candidates.size === 0) this.#candidates.set(0, { parts: [], members: new Map() });
    if (this.#candidates.size === 0 && !this.#members.has('promptFeedback')) {
      throw new CallFailure('upstream_malformed', 'the model provider sent an invalid answer: it has no candidates');
    }
    const byIndex = [...this.#candidates].toSorted(([one], [other]) => one - other);
    return writeJson({
      ...(byIndex.length > 0 && {
        candidates: byIndex.map(([index, one]) => writeCandidate(index, one, cut !== null)),
      }),
      ...Object.fromEntries(this.#members),
      ...(cut !== null && { usageMetadata: renderUsage(cut) }),
    });
  }

  #add(candidate: JsonObject, json: JsonText): void {
    const index = typeof candidate.index === 'number' ? candidate.index : 0;
    const found = this.#candidates.get(index) ?? { parts: [], members: new Map() };
    this.#candidates.set(index, found);
    for (const name of Object.keys(candidate)) {
      if (name !== 'content' && name !== 'index') keep(found.members, name, json);
    }
    const texts = elementTexts(valueText(json, ['content', 'parts']) ?? '[]');
    for (const [place, part] of asArray(asObject(candidate.content)?.parts).entries()) {
      addPart(found.parts, asObject(part) ?? {}, texts[place] ?? '{}');
    }
  }
}

function keep(members: Map<string, RawJson>, name: string, json: JsonText): void {
  members.set(name, new RawJson(memberText(json, name) ?? 'null'));
}

const TEXT_MEMBERS: ReadonlySet<string> = new Set(['text', 'thought']);

function addPart(parts: FoldedPart[], part: JsonObject, json: JsonText): void {
  const { text, thought } = part;
  if (typeof text !== 'string' || !Object.keys(part).every((name) => TEXT_MEMBERS.has(name))) {
    parts.push(new RawJson(json));
    return;
  }
  const isThought = thought === true;
  const last = parts.at(-1);
  const joins = last !== undefined && !(last instanceof RawJson) && last.isThought === isThought;
  if (joins) parts[parts.length - 1] = { text: last.text + text, isThought };
  else if (text !== '') parts.push({ text, isThought });
}

/** `isCut`: the answer was stopped before its end. */
function writeCandidate(index: number, { parts, members }: Candidate, isCut: boolean): WritableJson {
  const written = parts.map((part) =>
    part instanceof RawJson ? part : { text: part.text, thought: part.isThought || undefined },
  );
  return {
    content: { parts: written, role: 'model' },
    ...Object.fromEntries(members),
    ...(isCut && !members.has('finishReason') && { finishReason: 'MAX_TOKENS' }),
    index,
  };
}
