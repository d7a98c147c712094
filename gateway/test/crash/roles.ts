/** Owns who calls what in the crash loop: payers, models, and the mix of two hundred callers. Runs nothing. */
import type { FakeUpstream } from '../fake-upstream/start-fake-upstream.ts';
import { PROTOCOLS, type ProtocolName } from '../fault/calls.ts';
import { pointAt } from '../harness/point-at.ts';

/** Accounts: on account; from a balance that suffices; from one that never does; on account within a budget that runs out. */
export const PAYERS = ['default', 'rich', 'poor', 'capped'] as const;
export type Payer = (typeof PAYERS)[number];

/** `long` streams need a second slice of money and leave a checkpoint; `stalled` ones do, and then wait for the kill. */
type Pace = 'quick' | 'slow' | 'long' | 'stalled';

/** One caller: what it asks for, again and again. */
export interface Role {
  readonly payer: Payer;
  readonly endpoint: ProtocolName;
  /** Named after the protocol of its upstream: where that is not the endpoint's, the call is translated. */
  readonly model: string;
  readonly stream: boolean;
  readonly max_tokens: number;
  /** Whether each of its calls has an idempotency key. */
  readonly isNamed: boolean;
}

const LONG_TOKENS = 2_600;
/** What the longest answer costs by upstream's count, in nano-USD: 11 tokens of input and all of the output. */
export const DEAREST_ANSWER = 11_000n + BigInt(LONG_TOKENS) * 5_000n;
/** Many events in a write, so that a long stream is soon where it is wanted. */
const IN_GULPS = { chunking: { sizes: [8_192] } } as const;
const SCENARIOS = {
  quick: { answer: 'long:8' },
  slow: { answer: 'long:12', delayBeforeFirstByteMs: 15, delayBetweenEventsMs: 15 },
  long: { answer: `long:${LONG_TOKENS}`, ...IN_GULPS },
  stalled: { answer: `long:${LONG_TOKENS}`, stallAfterEvent: 2_300, ...IN_GULPS },
} as const satisfies Record<Pace, object>;

const PACES = Object.keys(SCENARIOS) as Pace[];

/** How many callers each payer has, and the paces of its streams, one for each eight callers in turn. */
const CALLERS: Readonly<Record<Payer, { readonly count: number; readonly paces: readonly Pace[] }>> = {
  default: {
    count: 96,
    paces: ['quick', 'slow', 'quick', 'stalled', 'slow', 'quick', 'slow', 'long', 'quick', 'slow'],
  },
  rich: { count: 64, paces: ['slow', 'quick', 'stalled', 'quick', 'slow', 'long', 'quick', 'slow'] },
  poor: { count: 24, paces: ['slow', 'quick', 'stalled'] },
  capped: { count: 16, paces: ['quick', 'slow'] },
};

/** Every mix of payer, endpoint, upstream, form, pace and name that the loop has. */
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

/** Lets the models of the roles answer as their names say. */
export function scriptModels(fake: FakeUpstream): void {
  for (const side of PROTOCOLS) for (const pace of PACES) fake.script(`${side}-${pace}`, SCENARIOS[pace]);
}

/** The gateway's configuration. */
export function crashConfig(fakeUrl: string): object {
  const modelsOf = (side: ProtocolName) => PACES.map((pace) => `${side}-${pace}`);
  return pointAt(fakeUrl, { chat: modelsOf('chat'), messages: modelsOf('messages') });
}
