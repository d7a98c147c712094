/** Owns the configuration of the gateway under conformance: one model per recording, one price, one credential. */
import type { RecordedCall } from './recorded-call.ts';
import { PRICE } from './usage-oracle.ts';

export const UPSTREAM_KEY = 'lab-credential-3f9c1a';

/** Every public name points at the recording of its own; the provider speaks the recordings' protocol. */
export function configFor(fakeUrl: string, calls: readonly RecordedCall[]): object {
  const models: Record<string, object> = {};
  for (const { publicModel, upstreamModel } of calls) {
    const target = publicModel === upstreamModel ? { provider: 'lab' } : { provider: 'lab', model: upstreamModel };
    models[publicModel] = { targets: [target], price: PRICE };
  }
  const kind = calls[0]?.recording.api === 'anthropic-messages' ? 'anthropic' : 'openai-compatible';
  return { providers: { lab: { kind, base_url: `${fakeUrl}/v1`, api_key: UPSTREAM_KEY } }, models };
}
