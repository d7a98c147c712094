/**
 * Renders a request for Google's token counter, and reads the count. AI Studio takes a whole request, Vertex some members
 * of one. https://ai.google.dev/api/tokens, read 2026-11-22.
 */
import { RawJson, writeJson } from '../../../wire/json-writer.ts';
import { memberText } from '../../exact-json.ts';
import { asCount, parseObject } from '../../json.ts';
import type { UpstreamTraits } from '../../upstream-traits.ts';

const COUNTED_AT_VERTEX = ['contents', 'systemInstruction', 'tools', 'generationConfig'];

/** `json` is a rendered request. */
export function renderCount(json: string, { gemini, model }: UpstreamTraits): string {
  if (gemini.platform === 'ai_studio') {
    const name = model.includes('/') ? model : `models/${model}`;
    return `{"generateContentRequest":{"model":${JSON.stringify(name)},${json.slice(1)}}`;
  }
  const members = COUNTED_AT_VERTEX.flatMap((member): ReadonlyArray<readonly [string, RawJson]> => {
    const text = memberText(json, member);
    return text === null ? [] : [[member, new RawJson(text)]];
  });
  return writeJson(Object.fromEntries(members));
}

/** Null: it is no count. */
export function readCount(body: Buffer): number | null {
  const total = asCount(parseObject(body.toString())?.totalTokens);
  return typeof total === 'number' ? total : null;
}
