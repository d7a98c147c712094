/** Test helpers: build inputs for the chat request parser and renderer and read their results. */
import { CallFailure } from '../../../errors/call-failure.ts';
import type { Part } from '../../../generation/part.ts';
import type { GenerationRequest, Turn } from '../../../generation/request.ts';
import { requestOf } from '../../../generation/testing/request-of.ts';
import { scanJson } from '../../../wire/json-scan.ts';
import { startTranslationNotes } from '../../request/translation-notes.ts';
import { CAPABLE } from '../../testing/capable-upstream.ts';
import type { RenderedRequest } from '../../upstream-protocol.ts';
import { parseRequest } from '../client/parse-request.ts';
import { renderRequest } from '../upstream/render-request.ts';

export const HELLO = [{ role: 'user', content: 'hello' }];

export function callOf(id: string, name = 'weather', json = '{}'): Part {
  return { kind: 'tool_call', id, name, tool: 'function', arguments: json, cache_mark: null };
}

type ResultParts = Extract<Part, { kind: 'tool_result' }>['parts'];

export function resultOf(call_id: string, ...parts: ResultParts): Part {
  return { kind: 'tool_result', call_id, parts, is_error: false, cache_mark: null };
}

/** Parses a body given as text or as an object; adds `model` and `messages` to an object that lacks them. */
export function parse(body: string | object, strict = false) {
  const text = typeof body === 'string' ? body : JSON.stringify({ model: 'm', messages: HELLO, ...body });
  const outline = scanJson(Buffer.from(text));
  if (!outline.ok) throw new Error(outline.message);
  const notes = startTranslationNotes(strict);
  return { request: parseRequest(outline, notes), dropped: notes.dropped };
}

/** The rendered request, as text and parsed again, and the dropped members. */
export function render(request: GenerationRequest, traits = CAPABLE, strict = false) {
  const notes = startTranslationNotes(strict);
  const rendered: RenderedRequest = renderRequest(request, traits, notes);
  return { ...rendered, body: JSON.parse(rendered.json), dropped: notes.dropped };
}

/** The messages rendered from turns. */
export function messagesOf(turns: readonly Turn[], traits = CAPABLE) {
  return render(requestOf({ turns }), traits).body.messages;
}

/** The member and message of a refusal. Throws if nothing was refused. */
export function refusalOf(act: () => unknown): { readonly param: string | undefined; readonly message: string } {
  try {
    act();
  } catch (error) {
    if (!(error instanceof CallFailure)) throw error;
    return { param: error.details.param, message: error.message };
  }
  throw new Error('nothing was refused');
}
