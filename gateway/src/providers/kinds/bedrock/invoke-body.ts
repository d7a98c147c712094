/** Changes a messages request to the form of InvokeModel: the body says what headers and members of Anthropic say. */

import type { JsonEdit } from '../../../wire/json-splice.ts';
import { editBody } from '../../hosted/edit-body.ts';
import type { HeaderLine, UpstreamRequest } from '../../provider.ts';

/** The version of AWS's own; clients that know the newer one get it. */
const AWS_VERSION = 'bedrock-2023-05-31';
const NEW_VERSION = '2026-10-21';

/** The model and the choice of a stream are in the address, version and betas in the body. */
export function toInvoke(request: UpstreamRequest, added: readonly HeaderLine[]): UpstreamRequest {
  const edits: JsonEdit[] = [{ remove: ['model'] }, { remove: ['stream'] }];
  const version = headerValue(request.headers, 'anthropic-version');
  edits.push({ set: ['anthropic_version'], json: JSON.stringify(version === NEW_VERSION ? version : AWS_VERSION) });
  const betas = headerValue(request.headers, 'anthropic-beta');
  if (betas !== null) edits.push({ set: ['anthropic_beta'], json: JSON.stringify(betas.split(',')) });
  const headers = request.headers.filter(([name]) => !name.toLowerCase().startsWith('anthropic-'));
  return { ...request, headers: [...headers, ...added], body: editBody(request.body, edits) };
}

function headerValue(headers: readonly HeaderLine[], name: string): string | null {
  return headers.find(([written]) => written.toLowerCase() === name)?.[1] ?? null;
}
