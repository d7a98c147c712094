/** Defines the benchmark cases: requests, expected answers, number of clients, windows, and subjects. */
import { renderAgentRequest } from './agent-request.ts';
import type { ExpectedAnswer } from './load/load-plan.ts';
import { type Protocol, renderQuestion } from './protocol.ts';
import type { SubjectName } from './subjects/subject.ts';
import { STREAM_EVENTS } from './upstream/answer-content.ts';
import type { UpstreamModel } from './upstream/choose-answer.ts';

export type CaseName =
  | 'plain'
  | 'steady-40'
  | 'steady-200'
  | 'steady-500'
  | 'burst'
  | 'paced'
  | 'agent'
  | 'agent-32'
  | 'start'
  | 'memory';

/** What a client of one format sends in a case, and the answer it expects. */
export interface CaseCall {
  readonly expect: ExpectedAnswer;
  renderBody(): string;
}

export interface BenchCase {
  readonly name: CaseName;
  readonly title: string;
  readonly connections: number;
  /** Calls that become due per second, regardless of open ones; null: each client calls again once it is answered. */
  readonly callsPerSecond: number | null;
  /** The subjects that run the case. */
  readonly subjects: readonly SubjectName[];
  /** Divisor of the CPU time. */
  readonly unit: 'call' | 'event';
  /** By the client's format; has the format of every subject. */
  readonly calls: Readonly<Partial<Record<Protocol, CaseCall>>>;
  readonly windowMs: number;
  /** Set if each measurement starts a subject of its own and begins with its first call; null: all run throughout. */
  readonly fresh: Fresh | null;
}

interface Fresh {
  /** Rounds that have the case: an interval needs no more. */
  readonly rounds: number;
  /** Windows follow one another until this many calls were answered. */
  readonly calls: number;
  /** Idle time before memory is read. */
  readonly settleMs: number;
}

const RELAYS: readonly SubjectName[] = ['bare', 'bare-keyed', 'tollgate', 'nginx', 'portkey', 'litellm'];
const TRANSLATING: readonly SubjectName[] = ['tollgate-c2m', 'tollgate-m2m', 'tollgate-m2c'];
const BASELINES: readonly SubjectName[] = ['bare', 'bare-keyed', 'tollgate'];

function plainCall(protocol: Protocol): CaseCall {
  return { expect: { protocol, kind: 'json' }, renderBody: () => renderQuestion(protocol, 'bench', false) };
}

function streamCall(protocol: Protocol, model: UpstreamModel): CaseCall {
  return {
    expect: { protocol, kind: 'stream', events: STREAM_EVENTS[protocol] },
    renderBody: () => renderQuestion(protocol, model, true),
  };
}

const PLAIN: Pick<BenchCase, 'unit' | 'calls' | 'fresh'> = {
  unit: 'call',
  calls: { chat: plainCall('chat'), messages: plainCall('messages'), responses: plainCall('responses') },
  fresh: null,
};

function steady(callsPerSecond: 40 | 200 | 500): BenchCase {
  return {
    ...PLAIN,
    name: `steady-${callsPerSecond}`,
    title: `${callsPerSecond} plain requests per second`,
    // More than are ever open unless something stalls for a tenth of a second.
    connections: 48,
    callsPerSecond,
    subjects: ['direct', ...BASELINES],
    windowMs: 1_000,
  };
}

function agent(name: CaseName, connections: number): BenchCase {
  return {
    name,
    title: `agent request of 200 KB, ${connections} connections`,
    connections,
    callsPerSecond: null,
    subjects: [...RELAYS, 'tollgate-c2m'],
    unit: 'call',
    calls: { chat: { expect: { protocol: 'chat', kind: 'json' }, renderBody: renderAgentRequest } },
    windowMs: 600,
    fresh: null,
  };
}

/** The cases in run and print order. */
export const CASES: readonly BenchCase[] = [
  {
    ...PLAIN,
    name: 'plain',
    title: 'plain request',
    connections: 32,
    callsPerSecond: null,
    subjects: [...RELAYS, 'tollgate-silent', 'tollgate-two', 'tollgate-r2r', ...TRANSLATING],
    windowMs: 600,
  },
  steady(40),
  steady(200),
  steady(500),
  {
    name: 'burst',
    title: 'stream of 100 events sent at once',
    connections: 16,
    callsPerSecond: null,
    subjects: [...RELAYS, 'tollgate-r2r', ...TRANSLATING],
    unit: 'call',
    calls: {
      chat: streamCall('chat', 'bench'),
      messages: streamCall('messages', 'bench'),
      responses: streamCall('responses', 'bench'),
    },
    windowMs: 600,
    fresh: null,
  },
  {
    name: 'paced',
    title: '100 streams, an event each 10 ms',
    connections: 100,
    callsPerSecond: null,
    subjects: [...RELAYS, ...TRANSLATING],
    unit: 'event',
    calls: { chat: streamCall('chat', 'bench-paced'), messages: streamCall('messages', 'bench-paced') },
    // A stream lasts a second; a shorter window has parts of streams only.
    windowMs: 1_500,
    fresh: null,
  },
  agent('agent', 8),
  agent('agent-32', 32),
  {
    ...steady(500),
    name: 'start',
    title: 'first ten seconds after the start, 500 plain requests per second',
    subjects: ['bare-keyed', 'tollgate'],
    windowMs: 10_000,
    fresh: { rounds: 6, calls: 1, settleMs: 0 },
  },
  {
    ...PLAIN,
    name: 'memory',
    title: 'after 100,000 plain requests',
    connections: 32,
    callsPerSecond: null,
    subjects: ['tollgate'],
    windowMs: 5_000,
    fresh: { rounds: 6, calls: 100_000, settleMs: 3_000 },
  },
];
