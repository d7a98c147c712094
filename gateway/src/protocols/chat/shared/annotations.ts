/** Owns `annotations`, the form that chat completions gives to what a text rests on, both ways. Offsets count UTF-16 units. */
import type { Citation } from '../../../generation/part.ts';
import type { WritableJson } from '../../../wire/json-writer.ts';
import { asArray, asObject, asText } from '../../json.ts';

/** The citations of a message's or a delta's `annotations`, with offsets into the whole content; kinds that name no URL give none. */
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

/** Some hosts send 0 and 0 where they do not know (seen at OpenRouter, November 2026). */
function spanOf(start: unknown, end: unknown): { start: number | null; end: number | null } {
  const holds = isOffset(start) && isOffset(end) && start < end;
  return holds ? { start, end } : { start: null, end: null };
}

function isOffset(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

/** The citation as one of a part that begins at `partStart` of the whole content; null: it is about a text before that. */
export function withinPart(citation: Citation, partStart: number): Citation | null {
  if (citation.kind !== 'url' || citation.start === null || citation.end === null) return citation;
  if (citation.start < partStart) return null;
  return { ...citation, start: citation.start - partStart, end: citation.end - partStart };
}

/**
 * Annotations for the citations of a text part that is `content[partStart, partStart + partChars)`. One without offsets
 * covers its whole part. What names no URL has no form here.
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
