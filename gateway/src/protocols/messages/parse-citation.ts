/** Owns reading one citation of a text block. It stays whole for clients of its own format. Source: wire reference B.3, C.3. */
import type { Citation, JsonText } from '../../generation/part.ts';
import { asText, type JsonObject } from '../json.ts';

/** `json` is the citation as it was written. Its place in the text is not said: it rests under the whole block. */
export function parseCitation(citation: JsonObject, json: JsonText): Citation {
  const native = { origin: 'messages', json };
  const url = asText(citation.url);
  if (citation.type !== 'web_search_result_location' || url === null) return { kind: 'opaque', native };
  return {
    kind: 'url',
    url,
    title: asText(citation.title),
    quote: asText(citation.cited_text),
    start: null,
    end: null,
    native,
  };
}
