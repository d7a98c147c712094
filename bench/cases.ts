/** Owns the table of what is measured: the requests, the answers they must get, and how many clients send them. */
import { renderAgentRequest } from './agent-request.ts';
import type { ExpectedAnswer } from './load/load-plan.ts';
import type { Protocol } from './protocol.ts';
import { renderQuestion } from './question.ts';
import { STREAM_EVENTS } from './upstream/answer-content.ts';
import type { UpstreamModel } from './upstream/choose-answer.ts';

export type CaseName = 'plain' | 'burst' | 'paced' | 'agent';

/** What a client of one format sends in a case, and what it must get. */
export interface CaseCall {
  readonly expect: ExpectedAnswer;
  renderBody(): string;
}

export interface BenchCase {
  readonly name: CaseName;
  readonly title: string;
  readonly connections: number;
  /** What CPU time is divided by. */
  readonly unit: 'call' | 'event';
  /** By the client's format; a format that is missing does not take part in the case. */
  readonly calls: Readonly<Partial<Record<Protocol, CaseCall>>>;
}

function plainCall(protocol: Protocol): CaseCall {
  return { expect: { protocol, kind: 'json' }, renderBody: () => renderQuestion(protocol, 'bench', false) };
}

function streamCall(protocol: Protocol, model: UpstreamModel): CaseCall {
  return {
    expect: { protocol, kind: 'stream', events: STREAM_EVENTS[protocol] },
    renderBody: () => renderQuestion(protocol, model, true),
  };
}

/** The cases in the order in which they run and print. */
export const CASES: readonly BenchCase[] = [
  {
    name: 'plain',
    title: 'plain call',
    connections: 32,
    unit: 'call',
    calls: { chat: plainCall('chat'), messages: plainCall('messages') },
  },
  {
    name: 'burst',
    title: 'stream of 100 events sent at once',
    connections: 16,
    unit: 'call',
    calls: { chat: streamCall('chat', 'bench'), messages: streamCall('messages', 'bench') },
  },
  {
    name: 'paced',
    title: '100 streams, an event each 10 ms',
    connections: 100,
    unit: 'event',
    calls: { chat: streamCall('chat', 'bench-paced'), messages: streamCall('messages', 'bench-paced') },
  },
  {
    name: 'agent',
    title: 'agent request of 200 KB',
    connections: 8,
    unit: 'call',
    calls: { chat: { expect: { protocol: 'chat', kind: 'json' }, renderBody: renderAgentRequest } },
  },
];
