/** Starts the gateway for the client suites and maps its models to upstreams. */
import type { ClientFormat } from '../fake-upstream/protocol.ts';
import type { ServedCall } from '../fake-upstream/served.ts';
import { pointAt } from '../harness/point-at.ts';
import { type Pair, startPair } from '../harness/start-pair.ts';

/** A model as a client names it, and its upstream. */
export interface Route {
  readonly model: string;
  readonly upstreamModel: string;
  readonly upstream: ClientFormat;
  readonly translated: boolean;
}

const OWN = { upstreamModel: 'public-model', upstream: 'chat-completions' } as const;
const CLAUDE = { upstreamModel: 'claude-sonnet-4-6', upstream: 'messages' } as const;

/**
 * Routes by the client's format. Messages clients derive a model's abilities from its name, so the self-hosted model
 * has a name of that form for them.
 */
export const ROUTES: Readonly<Record<ClientFormat, readonly Route[]>> = {
  'chat-completions': [
    { model: 'public-model', ...OWN, translated: false },
    { model: 'claude-sonnet-4-6', ...CLAUDE, translated: true },
  ],
  messages: [
    { model: 'claude-sonnet-4-6', ...CLAUDE, translated: false },
    { model: 'claude-sonnet-4-6-own', ...OWN, translated: true },
  ],
};

/** Starts a gateway with the models of all routes on one fake upstream. */
export function startClientsRig(): Promise<Pair> {
  return startPair((fakeUrl) =>
    pointAt(fakeUrl, {
      chat: [OWN.upstreamModel],
      messages: [CLAUDE.upstreamModel],
      renamed: { 'claude-sonnet-4-6-own': OWN.upstreamModel },
    }),
  );
}

/** Parses a request body that upstream received. */
export function bodyOf(call: Pick<ServedCall, 'requestBody'>): unknown {
  return JSON.parse(Buffer.from(call.requestBody).toString());
}
