/**
 * Reads the grounding of an answer: the web pages behind its text, by UTF-8 offsets, and the searches that found them.
 * https://ai.google.dev/gemini-api/docs/google-search, read 2026-11-22.
 */
import type { Citation } from '../../../generation/part.ts';
import { asArray, asCount, asObject, asText, type JsonObject, readRequests } from '../../json.ts';
import { versionOf } from './model-names.ts';

/** Searches that are billed: each query from Gemini 3 on, before it one for a grounded answer. */
export function countSearches(grounding: JsonObject, model: string | null): number {
  const queries = asArray(grounding.webSearchQueries).filter((query) => asText(query) !== null);
  const searches = readRequests(queries.length) ?? 0;
  return versionOf(model ?? '') >= 300 ? searches : Math.min(searches, 1);
}

/** More than the sentences of any answer; the rest of a malformed list is ignored. */
const SUPPORTS_MAX = 5_000;

/**
 * The citations of `text`, a text part that `before` UTF-8 bytes of text precede. A support without a readable page, or of
 * another part, is left out. A segment's words are the answer's own, so no citation has a quote of its source.
 */
export function citationsOf(grounding: JsonObject, text: string, before: number): Citation[] {
  const pages = asArray(grounding.groundingChunks).map(pageOf);
  const offsets = offsetsOf(text);
  const supports = asArray(grounding.groundingSupports).slice(0, SUPPORTS_MAX).map(asObject);
  return supports.flatMap((support): Citation[] => {
    const span = spanOf(asObject(support?.segment) ?? {}, text, offsets, before);
    if (span === null) return [];
    const indices = asArray(support?.groundingChunkIndices).slice(0, pages.length);
    return indices.flatMap((index): Citation[] => {
      const page = typeof index === 'number' ? pages[index] : null;
      const url = asText(page?.uri);
      return url === null ? [] : [{ kind: 'url', url, title: asText(page?.title), quote: null, ...span, native: null }];
    });
  });
}

/** A page of the web, or a place on Google's map. */
function pageOf(chunk: unknown): JsonObject | null {
  const found = asObject(chunk);
  return asObject(found?.web) ?? asObject(found?.maps);
}

/** UTF-16 offsets of a segment in the text. Its words decide: its UTF-8 offsets count from different places. */
function spanOf({ startIndex, endIndex, text: words }: JsonObject, text: string, offsets: Offsets, before: number) {
  const cited = asText(words);
  const [from, to] = [offsetOf(startIndex) - before, offsetOf(endIndex) - before];
  if (from >= 0 && to > from && to <= offsets.bytes) {
    const [start, end] = [offsets.at(from), offsets.at(to)];
    if (cited === null || text.slice(start, end) === cited) return { start, end };
  }
  const start = cited === null ? -1 : text.indexOf(cited);
  return cited === null || start === -1 ? null : { start, end: start + cited.length };
}

/** Maps offsets in UTF-8 to those in UTF-16: in a table, because a text may have thousands of segments. */
interface Offsets {
  readonly bytes: number;
  at(byte: number): number;
}

function offsetsOf(text: string): Offsets {
  const bytes = Buffer.byteLength(text);
  if (bytes === text.length) return { bytes, at: (byte) => byte };
  const table = new Uint32Array(bytes + 1);
  let [byte, unit] = [0, 0];
  for (const character of text) {
    const next = byte + Buffer.byteLength(character);
    table.fill(unit, byte, next);
    byte = next;
    unit += character.length;
  }
  table[bytes] = text.length;
  return { bytes, at: (offset) => table[offset] ?? 0 };
}

/** Absent: 0, as in every number of Google's JSON. */
function offsetOf(value: unknown): number {
  const count = asCount(value);
  return typeof count === 'number' ? count : 0;
}
