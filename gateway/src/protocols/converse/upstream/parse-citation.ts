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
      case 'searchResultLocation':
        return opaque({
          type: 'search_result_location',
          ...common,
          source: asText(citation.source) ?? '',
          title,
          search_result_index: indexOf(place.searchResultIndex),
          start_block_index: indexOf(place.start),
          end_block_index: indexOf(place.end),
        });
    }
  }
  return null;
}

function ofWeb(place: JsonObject, title: string | null, quote: string | null): Citation | null {
  const url = asText(place.url);
  if (url === null) return null;
  return { kind: 'url', url, title: title ?? asText(place.domain), quote, start: null, end: null, native: null };
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
