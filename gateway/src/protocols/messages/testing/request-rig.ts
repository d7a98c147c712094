/** Builds canonical requests, renders them and parses bodies, for the request tests of this format. */
import { CallFailure } from '../../../errors/call-failure.ts';
import type { GenerationRequest } from '../../../generation/request.ts';
import { requestOf } from '../../../generation/testing/request-of.ts';
import { scanJson } from '../../../wire/json-scan.ts';
import { startTranslationNotes } from '../../request/translation-notes.ts';
import { CAPABLE } from '../../testing/capable-upstream.ts';
import type { UpstreamTraits } from '../../upstream-traits.ts';
import { parseRequest } from '../client/parse-request.ts';
import { renderRequest } from '../upstream/render-request.ts';

/** A canonical request that says hello and has an output limit, with these members changed. */
export function requestWith(changes: Partial<GenerationRequest>): GenerationRequest {
  return requestOf({ outputTokensMax: 4000, ...changes });
}

/** The rendered request, its body as text and as a value, and what was dropped. */
export function render(request: GenerationRequest, traits: UpstreamTraits = CAPABLE, strict = false) {
  const notes = startTranslationNotes(strict);
  const rendered = renderRequest(request, traits, notes);
  return { ...rendered, body: JSON.parse(rendered.json), dropped: notes.dropped };
}

/** Parses a body, given as a value or as JSON text, into a canonical request. */
export function parse(body: unknown, strict = false) {
  const notes = startTranslationNotes(strict);
  const outline = scanJson(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)));
  if (!outline.ok) throw new Error(outline.message);
  return { request: parseRequest(outline, notes), dropped: notes.dropped };
}

/** The param and the message of the refusal; null if the request is accepted. */
export function refusal(act: () => unknown): { readonly param: string | undefined; readonly message: string } | null {
  try {
    act();
    return null;
  } catch (error) {
    if (!(error instanceof CallFailure) || error.kind !== 'invalid_request') throw error;
    return { param: error.details.param, message: error.message };
  }
}
