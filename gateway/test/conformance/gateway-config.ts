/**
 * Configures the gateway under conformance: one model and one provider per replay, one price, one credential.
 */
import { otherModelIn, type RecordedCall } from './recorded-call.ts';
import { PRICE } from './usage-oracle.ts';

export const UPSTREAM_KEY = 'lab-credential-3f9c1a';

/** Other models that a recorded request names: the provider must serve each for the request to pass. */
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

/**
 * Every public name maps to its recording; the providers speak the recordings' protocol. Each name has its own provider,
 * because the states of targets and credentials belong to it, and each call makes one attempt: a recorded error says
 * nothing about the next replay, and no retry takes its answer.
 */
export function configFor(fakeUrl: string, calls: readonly RecordedCall[]): object {
  const kind = calls[0]?.recording.api === 'anthropic-messages' ? 'anthropic' : 'openai-compatible';
  // Recorded requests name what the recorder's account keeps.
  const provider = { kind, base_url: `${fakeUrl}/v1`, api_key: UPSTREAM_KEY, shared_state: [{ id: '*' }] };
  const models: Record<string, object> = {};
  const providers: Record<string, object> = {};
  for (const [index, call] of calls.entries()) {
    const lab = `lab-${index}`;
    const { publicModel, upstreamModel } = call;
    providers[lab] = provider;
    const target = publicModel === upstreamModel ? { provider: lab } : { provider: lab, model: upstreamModel };
    models[publicModel] = { targets: [target], price: PRICE };
    for (const model of namedIn(call))
      models[`${lab}/${model}`] = { targets: [{ provider: lab, model }], price: PRICE };
  }
  return { defaults: { routing: { max_extra_attempts: 0 } }, providers, models };
}
