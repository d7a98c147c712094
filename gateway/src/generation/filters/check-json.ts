/** Owns holding an answer to JSON where the model was only told in words to write it. Mends nothing: the text is at the client already. */
import type { EventFilter } from '../event.ts';

const NOT_JSON =
  'the model did not answer in JSON, though it was asked for a JSON object; ' +
  'ask again, or choose a model that can be held to JSON';

/**
 * Where the model stopped by itself, all its text together must be one JSON object; if not, an `error` stands in the
 * place of `finish` and nothing follows. An answer that was cut, is a refusal or calls tools is not held to it.
 */
export function checkJson(): EventFilter {
  const texts = new Set<number>();
  let text = '';
  let saidOtherwise = false;
  let failed = false;
  return {
    push(event) {
      if (failed) return [];
      switch (event.kind) {
        case 'part_start':
          if (event.opening.kind === 'text') texts.add(event.part);
          else if (event.opening.kind === 'refusal' || event.opening.kind === 'tool_call') saidOtherwise = true;
          return [event];
        case 'text_delta':
          if (texts.has(event.part)) text += event.text;
          return [event];
        case 'finish':
          if (event.finish_reason !== 'stop' || saidOtherwise || isJsonObject(text)) return [event];
          failed = true;
          return [{ kind: 'error', type: 'api_error', message: NOT_JSON, status: null }];
        default:
          return [event];
      }
    },
  };
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
