/** Defines the benchmark cases: requests, expected answers, number of clients, and subjects. */
import { renderAgentRequest } from './agent-request.ts';
import type { ExpectedAnswer } from './load/load-plan.ts';
import { type Protocol, renderQuestion } from './protocol.ts';

import type { SubjectName } from './subjects/subject.ts';
import { STREAM_EVENTS } from './upstream/answer-content.ts';
import type { UpstreamModel } from './upstream/choose-answer.ts';

export type CaseName = 'plain' | 'steady' | 'burst' | 'paced' | 'agent';

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
  /** By the client's format. Subjects with a missing format do not run the case. */
  readonly calls: Readonly<Partial<Record<Protocol, CaseCall>>>;
}

const GATEWAYS: readonly SubjectName[] = [
  'bare',
  'bare-keyed',
  'tollgate',
  'tollgate-c2m',
  'tollgate-m2m',
  'tollgate-m2c',
  'nginx',
];
const STEADY_CALLS_PER_SECOND = 500;

function plainCall(protocol: Protocol): CaseCall {
  return { expect: { protocol, kind: 'json' }, renderBody: () => renderQuestion(protocol, 'bench', false) };
}

function streamCall(protocol: Protocol, model: UpstreamModel): CaseCall {
  return {
    expect: { protocol, kind: 'stream', events: STREAM_EVENTS[protocol] },
    renderBody: () => renderQuestion(protocol, model, true),
  };
}

/** The cases in run and print order. */
export const CASES: readonly BenchCase[] = [
  {
    name: 'plain',
    title: 'plain request',
    connections: 32,
    callsPerSecond: null,
    subjects: [...GATEWAYS, 'portkey'],
    unit: 'call',
    calls: { chat: plainCall('chat'), messages: plainCall('messages') },
  },
  {
    name: 'steady',
    title: `${STEADY_CALLS_PER_SECOND} plain requests per second`,
    // More than are ever open unless something stalls for a tenth of a second.
    connections: 48,
    callsPerSecond: STEADY_CALLS_PER_SECOND,
    subjects: ['direct', 'bare-keyed', 'tollgate'],
    unit: 'call',
    calls: { chat: plainCall('chat') },
  },
  {
    name: 'burst',
    title: 'stream of 100 events sent at once',
    connections: 16,
    callsPerSecond: null,
    subjects: GATEWAYS,
    unit: 'call',
    calls: { chat: streamCall('chat', 'bench'), messages: streamCall('messages', 'bench') },
  },
  {
    name: 'paced',
    title: '100 streams, an event each 10 ms',
    connections: 100,
    callsPerSecond: null,
    subjects: GATEWAYS,
    unit: 'event',
    calls: { chat: streamCall('chat', 'bench-paced'), messages: streamCall('messages', 'bench-paced') },
  },
  {
    name: 'agent',
    title: 'agent request of 200 KB',
    connections: 8,
    callsPerSecond: null,
    subjects: [...GATEWAYS, 'portkey'],
    unit: 'call',
    calls: { chat: { expect: { protocol: 'chat', kind: 'json' }, renderBody: renderAgentRequest } },
  },
];
