/** Defines the callers of the crash loop: payers, models, and the mix of two hundred callers. */
import type { FakeUpstream } from '../fake-upstream/start-fake-upstream.ts';
import { PROTOCOLS, type ProtocolName } from '../fault/calls.ts';
import { pointAt } from '../harness/point-at.ts';

/** Accounts: postpaid; prepaid with enough balance; prepaid with too little; postpaid with a budget that runs out. */
export const PAYERS = ['default', 'rich', 'poor', 'capped'] as const;
export type Payer = (typeof PAYERS)[number];

/**
 * `long` streams need a second slice of money and store a checkpoint; `stalled` ones too, and then wait for the kill.
 */
type Pace = 'quick' | 'slow' | 'long' | 'stalled';

/** One caller and the request that it repeats. */
export interface Role {
  readonly payer: Payer;
  readonly endpoint: ProtocolName;
  /** Named after the protocol of its upstream; if the endpoint's differs, the call is translated. */
  readonly model: string;
  readonly stream: boolean;
  readonly max_tokens: number;
  /** Whether each of its calls has an idempotency key. */
  readonly isNamed: boolean;
}

const LONG_TOKENS = 2_600;
/** Maximum cost of an answer by upstream's count, in nano-USD: 11 tokens of input and all of the output. */
export const DEAREST_ANSWER = 11_000n + BigInt(LONG_TOKENS) * 5_000n;
/** Many events per write, so that a long stream reaches its checkpoint soon. */
const IN_GULPS = { chunking: { sizes: [8_192] } } as const;
const SCENARIOS = {
  quick: { answer: 'long:8' },
  slow: { answer: 'long:12', delayBeforeFirstByteMs: 15, delayBetweenEventsMs: 15 },
  long: { answer: `long:${LONG_TOKENS}`, ...IN_GULPS },
  stalled: { answer: `long:${LONG_TOKENS}`, stallAfterEvent: 2_300, ...IN_GULPS },
} as const satisfies Record<Pace, object>;

const PACES = Object.keys(SCENARIOS) as Pace[];

/** Number of callers of each payer, and the paces of its streams: one for each eight callers in turn. */
const CALLERS: Readonly<Record<Payer, { readonly count: number; readonly paces: readonly Pace[] }>> = {
  default: {
    count: 96,
    paces: ['quick', 'slow', 'quick', 'stalled', 'slow', 'quick', 'slow', 'long', 'quick', 'slow'],
  },
  rich: { count: 64, paces: ['slow', 'quick', 'stalled', 'quick', 'slow', 'long', 'quick', 'slow'] },
  poor: { count: 24, paces: ['slow', 'quick', 'stalled'] },
  capped: { count: 16, paces: ['quick', 'slow'] },
};

/** Every combination of payer, endpoint, upstream, form, pace and name in the loop. */
export const ROLES: readonly Role[] = PAYERS.flatMap((payer) => {
  const { count, paces } = CALLERS[payer];
  return Array.from({ length: count }, (_, number) => roleOf(payer, paces, number));
});

function roleOf(payer: Payer, paces: readonly Pace[], number: number): Role {
  const eight = number >> 3;
  const stream = (number & 4) !== 0;
  const pace = (stream ? paces[eight % paces.length] : eight % 2 === 0 ? 'quick' : 'slow') ?? 'quick';
  return {
    payer,
    endpoint: sideOf(number & 1),
    model: `${sideOf(number & 2)}-${pace}`,
    stream,
    max_tokens: pace === 'long' || pace === 'stalled' ? 4_000 : 64,
    isNamed: eight % 3 === 1,
  };
}

function sideOf(bit: number): ProtocolName {
  return bit === 0 ? 'chat' : 'messages';
}

/** Scripts the models of the roles according to their names. */
export function scriptModels(fake: FakeUpstream): void {
  for (const side of PROTOCOLS) for (const pace of PACES) fake.script(`${side}-${pace}`, SCENARIOS[pace]);
}

/** The gateway's configuration. */
export function crashConfig(fakeUrl: string): object {
  const modelsOf = (side: ProtocolName) => PACES.map((pace) => `${side}-${pace}`);
  return pointAt(fakeUrl, { chat: modelsOf('chat'), messages: modelsOf('messages') });
}
