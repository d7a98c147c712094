/** Provides the kind `demo`: the built-in offline model, in both formats. */
import { DemoExchange } from '../../demo/demo-exchange.ts';
import { SSE } from '../../framing/sse-decoder.ts';
import { isGenerationClient } from '../../protocols/names.ts';
import type { LocalKind, LocalProvider } from '../provider.ts';
import { NO_QUIRKS } from '../quirks.ts';
import { compatibleTraits } from './openai-compatible.ts';

export const demo: LocalKind = {
  name: 'demo',
  title: 'Demo',
  speaks: 'the built-in offline model, both',
  protocols: ['chat', 'messages'],
  quirks: NO_QUIRKS,
  takes: [],
  secrets: [],
  settings: [],
  framing: () => SSE,
  checkConfig: () => [],
  chatTraits: compatibleTraits,
  vendorHost: null,
  local: {
    models: ['demo', 'claude-demo'],
    openExchange(request, listener) {
      const { protocol } = request;
      if (!isGenerationClient(protocol)) throw new Error(`the demo model does not speak ${protocol}`);
      return new DemoExchange({ ...request, protocol }, listener);
    },
  },
};

/** A provider of a local kind. */
export function localProvider(name: string, kind: LocalKind): LocalProvider {
  const { quirks } = kind;
  const nothing = { baseUrl: null, credentials: null, timeouts: null, catalogProvider: null } as const;
  return { name, kind, quirks, provenLimits: [], maxConcurrency: null, ...nothing };
}
