/**
 * Reads the grounding of an answer: the web pages behind its text, by UTF-8 offsets, and the searches that found them.
 * https://ai.google.dev/gemini-api/docs/google-search, read 2026-11-22.
 */
import type { Citation } from '../../../generation/part.ts';
import { asArray, asCount, asObject, asText, type JsonObject } from '../../json.ts';
import { versionOf } from './model-names.ts';

/** Searches that are billed: each query from Gemini 3 on, before it one for a grounded answer. */
export function countSearches(grounding: JsonObject, model: string | null): number {
  const queries = asArray(grounding.webSearchQueries).filter((query) => asText(query) !== null).length;
  return versionOf(model ?? '') >= 300 ? queries : Math.min(queries, 1);
}

/**
 * The citations of `text`, a text part that `before` UTF-8 bytes of text precede. A support without a readable page, or of
 * another part, is left out.
 */
export function citationsOf(grounding: JsonObject, text: string, before: number): Citation[] {
  const pages = asArray(grounding.groundingChunks).map((chunk) => asObject(asObject(chunk)?.web));
  const bytes = Buffer.from(text);
  return asArray(grounding.groundingSupports).flatMap((support): Citation[] => {
    const found = asObject(support);
    const span = spanOf(asObject(found?.segment) ?? {}, text, bytes, before);
    if (span === null) return [];
    return asArray(found?.groundingChunkIndices).flatMap((index): Citation[] => {
      const page = typeof index === 'number' ? pages[index] : null;
      const url = asText(page?.uri);
      return url === null ? [] : [{ kind: 'url', url, title: asText(page?.title), ...span, native: null }];
    });
  });
}

/** UTF-16 offsets of a segment in the text. Its words decide: its UTF-8 offsets count from different places. */
function spanOf({ startIndex, endIndex, text: words }: JsonObject, text: string, bytes: Buffer, before: number) {
  const quote = asText(words);
  const [from, to] = [offsetOf(startIndex) - before, offsetOf(endIndex) - before];
  if (from >= 0 && to > from && to <= bytes.length) {
    const cited = bytes.toString('utf8', from, to);
    const start = bytes.toString('utf8', 0, from).length;
    if (quote === null || cited === quote) return { quote, start, end: start + cited.length };
  }
  const start = quote === null ? -1 : text.indexOf(quote);
  return quote === null || start === -1 ? null : { quote, start, end: start + quote.length };
}

/** Absent: 0, as in every number of Google's JSON. */
function offsetOf(value: unknown): number {
  const count = asCount(value);
  return typeof count === 'number' ? count : 0;
}
