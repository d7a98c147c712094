/** Returns the configuration of this folder's suites: one model for each upstream behavior. */
import type { FakeUpstream } from '../fake-upstream/start-fake-upstream.ts';
import { pointAt } from '../harness/point-at.ts';
import { type SharedPair, sharePair } from '../harness/start-pair.ts';
import type { Side } from './calls.ts';

interface ConfigOptions {
  readonly limits?: object;
  readonly server?: object;
  /** Additional models, in the form of the configuration file. */
  readonly models?: Readonly<Record<string, object>>;
  /** Names of additional models, each with a provider of its own: a failure of one affects no other. */
  readonly apart?: Readonly<Record<Side, readonly string[]>>;
}

const SCRIPTED_CHAT = ['slow', 'broken', 'limited', 'rejecting'] as const;
const SCRIPTED_MESSAGES = ['m-ok', 'm-long', 'm-slow', 'm-broken', 'm-overloaded', 'm-rejecting'] as const;

/** Models that only one endpoint serves. */
const ONE_SIDED = {
  'chat-only': { protocols: ['chat'], targets: [{ provider: 'lab', model: 'ok' }], price: 'free' },
  'messages-only': { protocols: ['messages'], targets: [{ provider: 'lab-messages', model: 'm-ok' }], price: 'free' },
};

interface Built {
  readonly providers: object;
  readonly models: object;
}

/** Has models of a chat upstream and a messages upstream, one of the demo, and two that only one endpoint serves. */
export function contractConfig(fakeUrl: string, options: ConfigOptions = {}): object {
  const { limits, server, models, apart } = options;
  const pointing = {
    chat: ['ok', 'tool', 'think', 'long:20', 'endless', ...SCRIPTED_CHAT],
    messages: [...SCRIPTED_MESSAGES],
    renamed: { 'vendor/renamed': 'ok' },
    ...(limits === undefined ? {} : { limits }),
    ...(server === undefined ? {} : { server }),
  };
  const built = pointAt(fakeUrl, pointing) as Built;
  const own = apart === undefined ? null : (pointAt(fakeUrl, { ...apart, apart: true }) as Built);
  return {
    ...built,
    providers: { ...built.providers, ...own?.providers, demo: { kind: 'demo' } },
    models: {
      ...built.models,
      ...own?.models,
      demo: { targets: [{ provider: 'demo' }] },
      ...ONE_SIDED,
      ...models,
    },
  };
}

/** Scripts the models of `contractConfig`. */
export function scriptContractModels(fake: FakeUpstream): void {
  fake.script('m-ok', { answer: 'ok' });
  fake.script('m-long', { answer: 'long:20' });
  for (const slow of ['slow', 'm-slow']) fake.script(slow, { answer: 'ok', delayBeforeFirstByteMs: 60_000 });
  for (const broken of ['broken', 'm-broken']) fake.script(broken, { status: 500, errorBodyBytes: 100 });
  fake.script('limited', { status: 429, headers: { 'retry-after': '7' }, errorBodyBytes: 100 });
  fake.script('m-overloaded', { status: 529, errorBodyBytes: 100 });
  for (const rejecting of ['rejecting', 'm-rejecting']) {
    fake.script(rejecting, { status: 422, json: { error: { type: 'odd', message: 'not like this' } } });
  }
}

/** Shares a gateway with `contractConfig` and no additions, and its models scripted. */
export async function shareContractPair(): Promise<SharedPair> {
  const pair = await sharePair(contractConfig);
  scriptContractModels(pair.fake);
  return pair;
}
