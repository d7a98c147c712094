/** Parses and renders `annotations`, the chat-completions form of citations. Offsets count UTF-16 units. */
import type { Citation } from '../../../generation/part.ts';
import type { WritableJson } from '../../../wire/json-writer.ts';
import { asArray, asObject, asText, type JsonObject } from '../../json.ts';

/** Citations in `annotations` of a message or delta, with offsets into the whole content. Skips kinds without a URL. */
export function parseAnnotations(annotations: unknown): Citation[] {
  return asArray(annotations).flatMap((annotation) => {
    const found = asObject(asObject(annotation)?.url_citation);
    const url = asText(found?.url);
    if (found === null || url === null) return [];
    const quote = asText(found.content);
    return [
      {
        kind: 'url',
        url,
        title: asText(found.title),
        quote,
        ...spanOf(found.start_index, found.end_index),
        native: null,
      },
    ];
  });
}

/**
 * The pages behind an answer that Perplexity and xAI name beside it, without offsets: `search_results`, else the addresses in
 * `citations` (recorded traffic, 2026). Null: the chunk or answer names none.
 */
export function parseSources({ search_results, citations }: JsonObject): Citation[] | null {
  const pages = asArray(search_results).length > 0 ? asArray(search_results) : asArray(citations);
  if (pages.length === 0) return null;
  return pages.flatMap((page): Citation[] => {
    const found = asObject(page);
    const url = asText(page) ?? asText(found?.url);
    if (url === null) return [];
    return [{ kind: 'url', url, title: asText(found?.title), quote: null, start: null, end: null, native: null }];
  });
}

/** Some providers send 0 and 0 for unknown offsets (seen at OpenRouter, November 2026). */
function spanOf(start: unknown, end: unknown): { start: number | null; end: number | null } {
  const holds = isOffset(start) && isOffset(end) && start < end;
  return holds ? { start, end } : { start: null, end: null };
}

function isOffset(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

/** The citation with offsets relative to a part that begins at `partStart`; null: it cites earlier text. */
export function withinPart(citation: Citation, partStart: number): Citation | null {
  if (citation.kind !== 'url' || citation.start === null || citation.end === null) return citation;
  if (citation.start < partStart) return null;
  return { ...citation, start: citation.start - partStart, end: citation.end - partStart };
}

/**
 * Annotations for the citations of the text part `content[partStart, partStart + partChars)`. A citation without
 * offsets covers its whole part. Omits citations without a URL, which this format cannot express.
 */
export function renderAnnotations(
  citations: readonly Citation[],
  partStart: number,
  partChars: number,
): WritableJson[] {
  return citations.flatMap((citation) => {
    if (citation.kind !== 'url') return [];
    const start_index = partStart + (citation.start ?? 0);
    const end_index = partStart + (citation.end ?? partChars);
    return [
      {
        type: 'url_citation',
        url_citation: { start_index, end_index, title: citation.title ?? '', url: citation.url },
      },
    ];
  });
}
