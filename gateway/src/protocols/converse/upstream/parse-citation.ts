/**
 * Parses a citation of a Converse answer. Its places are those of Anthropic's format by other names, so clients of that
 * format get them. Source: provider reference C.4.
 */
import type { Citation } from '../../../generation/part.ts';
import { type WritableJson, writeJson } from '../../../wire/json-writer.ts';
import { asArray, asObject, asText, type JsonObject } from '../../json.ts';

/** Null: it names no place. */
export function parseCitation(citation: JsonObject): Citation | null {
  const location = asObject(citation.location) ?? {};
  const title = asText(citation.title);
  const quote = quoteOf(citation.sourceContent);
  const common = { cited_text: quote ?? '' };
  const ofDocument = (place: JsonObject, type: string, unit: string) =>
    opaque({
      type,
      ...common,
      document_index: indexOf(place.documentIndex),
      document_title: title,
      [`start_${unit}`]: indexOf(place.start),
      [`end_${unit}`]: indexOf(place.end),
    });
  for (const [name, value] of Object.entries(location)) {
    const place = asObject(value);
    if (place === null) continue;
    switch (name) {
      case 'web':
        return ofWeb(place, title, quote);
      case 'documentChar':
        return ofDocument(place, 'char_location', 'char_index');
      case 'documentPage':
        return ofDocument(place, 'page_location', 'page_number');
      case 'documentChunk':
        return ofDocument(place, 'content_block_location', 'block_index');
      case 'searchResultLocation': {
        const source = asText(citation.source) ?? '';
        const start = indexOf(place.start);
        return opaque(searchResult(source, title, quote, indexOf(place.searchResultIndex), start, indexOf(place.end)));
      }
    }
  }
  return null;
}

function ofWeb(place: JsonObject, title: string | null, quote: string | null): Citation | null {
  const url = asText(place.url);
  if (url === null) return null;
  const named = title ?? asText(place.domain);
  // Anthropic's own form for the web has a token that only Anthropic can issue.
  const native = { origin: 'messages', json: writeJson(searchResult(url, named, quote, 0, 0, 0)) };
  return { kind: 'url', url, title: named, quote, start: null, end: null, native };
}

function searchResult(
  source: string,
  title: string | null,
  quote: string | null,
  search_result_index: number,
  start_block_index: number,
  end_block_index: number,
): { readonly [member: string]: WritableJson } {
  const place = { search_result_index, start_block_index, end_block_index };
  return { type: 'search_result_location', cited_text: quote ?? '', source, title, ...place };
}

function opaque(json: { readonly [member: string]: WritableJson }): Citation {
  return { kind: 'opaque', native: { origin: 'messages', json: writeJson(json) } };
}

function quoteOf(content: unknown): string | null {
  return asText(
    asArray(content)
      .map((piece) => asText(asObject(piece)?.text) ?? '')
      .join(''),
  );
}

function indexOf(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : 0;
}
