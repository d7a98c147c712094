/** Owns the table of what is measured: the request, the answer it must get, and how many clients send it. */
import { renderAgentRequest } from './agent-request.ts';
import type { ExpectedAnswer } from './load/load-plan.ts';
import type { UpstreamModel } from './upstream/choose-answer.ts';
import { STREAM_EVENTS } from './upstream/replies.ts';

export type CaseName = 'plain' | 'burst' | 'paced' | 'agent';

export interface BenchCase {
  readonly name: CaseName;
  readonly title: string;
  readonly connections: number;
  /** What CPU time is divided by. */
  readonly unit: 'call' | 'event';
  readonly expect: ExpectedAnswer;
  renderBody(): string;
}

function renderChat(model: UpstreamModel, stream: boolean): string {
  return JSON.stringify({
    model,
    messages: [
      { role: 'system', content: 'You keep the books of a toll gate. Answer in two sentences, without lists.' },
      { role: 'user', content: 'What does the keeper do at night?\nAnd what if the "coins" and the lines differ?' },
    ],
    temperature: 0.2,
    max_tokens: 256,
    ...(stream ? { stream } : {}),
  });
}

const STREAM: ExpectedAnswer = { kind: 'stream', events: STREAM_EVENTS };

/** The cases in the order in which they run and print. */
export const CASES: readonly BenchCase[] = [
  {
    name: 'plain',
    title: 'plain call',
    connections: 32,
    unit: 'call',
    expect: { kind: 'json' },
    renderBody: () => renderChat('bench', false),
  },
  {
    name: 'burst',
    title: 'stream of 100 events sent at once',
    connections: 16,
    unit: 'call',
    expect: STREAM,
    renderBody: () => renderChat('bench', true),
  },
  {
    name: 'paced',
    title: '100 streams, an event each 10 ms',
    connections: 100,
    unit: 'event',
    expect: STREAM,
    renderBody: () => renderChat('bench-paced', true),
  },
  {
    name: 'agent',
    title: 'agent request of 200 KB',
    connections: 8,
    unit: 'call',
    expect: { kind: 'json' },
    renderBody: renderAgentRequest,
  },
];
