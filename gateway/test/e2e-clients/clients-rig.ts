/** Starts the gateway for the client suites and maps its models to upstreams. */
import type { ClientFormat } from '../fake-upstream/protocol.ts';
import type { ServedCall } from '../fake-upstream/served.ts';
import { pointAt } from '../harness/point-at.ts';
import { type Pair, startPair } from '../harness/start-pair.ts';

/** A format of the libraries. */
export type SpokenFormat = ClientFormat | 'gemini';

/** A model as a client names it, and its upstream. */
export interface Route {
  readonly model: string;
  readonly upstreamModel: string;
  readonly upstream: ClientFormat;
  readonly translated: boolean;
}

const OWN = { upstreamModel: 'public-model', upstream: 'chat-completions' } as const;
const CLAUDE = { upstreamModel: 'claude-sonnet-4-6', upstream: 'messages' } as const;
const GPT = { upstreamModel: 'gpt-5.5', upstream: 'responses' } as const;

/** OpenAI serves it over Responses only. */
const CODEX = { upstreamModel: 'gpt-5.5-codex', upstream: 'responses' } as const;

/**
 * Routes by the client's format. Messages and Responses clients derive a model's abilities from its name, so models of
 * other formats have names of that form for them.
 */
export const ROUTES: Readonly<Record<SpokenFormat, readonly Route[]>> = {
  'chat-completions': [
    { model: 'public-model', ...OWN, translated: false },
    { model: 'claude-sonnet-4-6', ...CLAUDE, translated: true },
  ],
  messages: [
    { model: 'claude-sonnet-4-6', ...CLAUDE, translated: false },
    { model: 'claude-sonnet-4-6-own', ...OWN, translated: true },
  ],
  gemini: [
    { model: 'public-model', ...OWN, translated: true },
    { model: 'claude-sonnet-4-6', ...CLAUDE, translated: true },
    { model: CODEX.upstreamModel, ...CODEX, translated: true },
  ],
  responses: [
    { model: 'gpt-5.5', ...GPT, translated: false },
    { model: 'gpt-5.5-own', ...OWN, translated: true },
    { model: 'gpt-5.5-claude', ...CLAUDE, translated: true },
  ],
};

/** Starts a gateway with the models of all routes on one fake upstream. */
export function startClientsRig(): Promise<Pair> {
  return startPair((fakeUrl) =>
    pointAt(fakeUrl, {
      chat: [OWN.upstreamModel],
      messages: [CLAUDE.upstreamModel],
      responses: [GPT.upstreamModel, CODEX.upstreamModel],
      renamed: { 'claude-sonnet-4-6-own': OWN.upstreamModel, 'gpt-5.5-own': OWN.upstreamModel },
      renamedMessages: { 'gpt-5.5-claude': CLAUDE.upstreamModel },
    }),
  );
}

/** Parses a request body that upstream received. */
export function bodyOf(call: Pick<ServedCall, 'requestBody'>): unknown {
  return JSON.parse(Buffer.from(call.requestBody).toString());
}
