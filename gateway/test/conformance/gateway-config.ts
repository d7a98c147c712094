/** Configures the gateway under conformance: one model per recording, one price, one credential. */
import { otherModelIn, type RecordedCall } from './recorded-call.ts';
import { PRICE } from './usage-oracle.ts';

export const UPSTREAM_KEY = 'lab-credential-3f9c1a';

/** Other models that a recorded request names: each must be served for the request to pass. */
function namedIn({ recording }: RecordedCall): readonly string[] {
  const body = (recording.request?.body ?? {}) as { readonly models?: unknown; readonly tools?: unknown };
  const listed = Array.isArray(body.models) ? body.models : [];
  const tools = Array.isArray(body.tools) ? body.tools : [];
  const other = otherModelIn(recording);
  if (other !== null) return [other.model];
  return [...listed, ...tools.map((tool: { readonly model?: unknown }) => tool.model)].filter(
    (name) => typeof name === 'string',
  );
}

/** Every public name maps to its recording; the provider speaks the recordings' protocol. */
export function configFor(fakeUrl: string, calls: readonly RecordedCall[]): object {
  const models: Record<string, object> = {};
  for (const { publicModel, upstreamModel } of calls) {
    const target = publicModel === upstreamModel ? { provider: 'lab' } : { provider: 'lab', model: upstreamModel };
    models[publicModel] = { targets: [target], price: PRICE };
  }
  for (const name of calls.flatMap(namedIn)) models[name] ??= { targets: [{ provider: 'lab' }], price: PRICE };
  const kind = calls[0]?.recording.api === 'anthropic-messages' ? 'anthropic' : 'openai-compatible';
  return { providers: { lab: { kind, base_url: `${fakeUrl}/v1`, api_key: UPSTREAM_KEY } }, models };
}
