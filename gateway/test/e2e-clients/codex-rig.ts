/** Starts the gateway for the Codex suite: for each format of an upstream and transport a model for each scene. */
import type { ClientFormat } from '../fake-upstream/protocol.ts';
import { type Pair, startPair } from '../harness/start-pair.ts';
import { TRANSPORTS, type Transport } from './run-codex.ts';

const PROVIDERS: Readonly<Record<ClientFormat, object>> = {
  responses: { kind: 'openai' },
  // It wants earlier reasoning back.
  'chat-completions': { kind: 'openai-compatible', preset: 'moonshot' },
  messages: { kind: 'anthropic' },
};
export const FORMATS = Object.keys(PROVIDERS) as ClientFormat[];
export const TRANSPORT_NAMES = Object.keys(TRANSPORTS) as Transport[];

/** What a model's upstream is scripted to do. Each scene has a provider of its own: its failures affect no other. */
const SCENES = ['session', 'down', 'limited', 'limited-silently', 'rejecting', 'cut-once', 'cut-always'] as const;
export type Scene = (typeof SCENES)[number];

/** The name of a scene's model, here and upstream. It begins with one that Codex knows, so Codex offers all its tools. */
export function modelOf(format: ClientFormat, scene: Scene, transport: Transport): string {
  return `gpt-5.5-${format}-${scene}-${transport}`;
}

/** Starts the gateway and one fake upstream. It makes one attempt for each request, so counts are those of Codex. */
export function startCodexRig(): Promise<Pair> {
  return startPair((fakeUrl) => {
    const models = FORMATS.flatMap((format) =>
      TRANSPORT_NAMES.flatMap((transport) =>
        SCENES.map((scene) => ({ name: modelOf(format, scene, transport), format })),
      ),
    );
    return {
      defaults: { routing: { max_extra_attempts: 0 } },
      providers: Object.fromEntries(
        models.map(({ name, format }) => [
          `lab-${name.replaceAll('.', '-')}`,
          { ...PROVIDERS[format], base_url: `${fakeUrl}/v1`, api_key: 'none' },
        ]),
      ),
      models: Object.fromEntries(
        models.map(({ name }) => [
          name,
          { targets: [{ provider: `lab-${name.replaceAll('.', '-')}` }], price: { input: 1, output: 5 } },
        ]),
      ),
    };
  });
}
