/** Tests continued-exchange.ts: hops are one answer, and one that cannot be continued ends where it is. */
import { describe, expect, test } from 'bun:test';
import type { UpstreamFailure } from '../../upstream/connection.ts';
import type { ExchangeListener } from '../../upstream/exchange.ts';
import type { ResponseHead } from '../../upstream/response-head.ts';
import type { Operation, UpstreamRequest } from '../provider.ts';
import { openContinued } from './continued-exchange.ts';

const FAILURE: UpstreamFailure = { kind: 'reset', message: 'closed', sent: true, stale: false };

function headOf(status: number): ResponseHead {
  return { status, headers: [], framing: 'close', lengthBytes: 0, keepAlive: false };
}

/** An attempt whose hops the test plays. */
function attempt(operation: Operation, responseBytesMax = 1_000_000) {
  const bodies: unknown[] = [];
  const listeners: ExchangeListener[] = [];
  const heard: string[] = [];
  const outer: ExchangeListener = {
    onHead: ({ status }) => void heard.push(String(status)),
    onBody: (span) => void heard.push(Buffer.from(span).toString()),
    onEnd: () => void heard.push('end'),
    onFailure: ({ message }) => void heard.push(message),
  };
  const request = { protocol: 'gemini', operation, headers: [], body: Buffer.from('{"contents":[]}') };
  const tap = openContinued(
    { ...request, answers: 1, requestId: 'req_1', atMs: 0 } as UpstreamRequest,
    ({ body }) =>
      (listener) => {
        bodies.push(JSON.parse(Buffer.from(body).toString()));
        listeners.push(listener);
        const idle = () => undefined;
        return { sentAtMs: 1, headAtMs: 0, lastByteAtMs: 0, resent: false, pause: idle, resume: idle, abort: idle };
      },
    responseBytesMax,
    outer,
  );
  const play = (hop: number, status: number, ...texts: readonly string[]) => {
    listeners[hop]?.onHead(headOf(status));
    for (const text of texts) listeners[hop]?.onBody(Buffer.from(text));
  };
  return { tap, bodies, listeners, heard, play };
}

const hop = (text: string, token?: string) =>
  JSON.stringify({
    candidates: [
      {
        content: { parts: [{ text }] },
        ...(token === undefined
          ? { finishReason: 'STOP' }
          : { finishReason: 'CONTINUATION', continuationToken: token }),
      },
    ],
  });

describe('a plain answer', () => {
  test('vector 19: of two hops is an array of both, by two exchanges', () => {
    const { tap, bodies, listeners, heard, play } = attempt('plain');
    const first = hop('At ', 'T1');
    play(0, 200, first.slice(0, 20), first.slice(20));
    listeners[0]?.onEnd();
    expect([heard, bodies]).toEqual([['200'], [{ contents: [] }, { contents: [], continuationToken: 'T1' }]]);
    play(1, 200, hop('noon.'));
    listeners[1]?.onEnd();
    expect(heard).toEqual(['200', `[${first},${hop('noon.')}]`, 'end']);
    expect(tap.exchanges).toBe(2);
  });

  test.each([hop('At noon.'), hop('"CONTINUATION"'), 'no JSON: "CONTINUATION"'])('%s passes as it is', (body) => {
    const { bodies, listeners, heard, play } = attempt('plain');
    play(0, 200, body);
    listeners[0]?.onEnd();
    expect([heard, bodies.length]).toEqual([['200', body, 'end'], 1]);
  });

  test('that cannot be continued ends with the parts so far', () => {
    const refused = attempt('plain');
    refused.play(0, 200, hop('At ', 'T1'));
    refused.listeners[0]?.onEnd();
    refused.play(1, 400, '{"error":{}}');
    refused.listeners[1]?.onEnd();
    const failed = attempt('plain');
    failed.play(0, 200, hop('At ', 'T1'));
    failed.listeners[0]?.onEnd();
    failed.listeners[1]?.onFailure(FAILURE);
    for (const { heard } of [refused, failed]) expect(heard).toEqual(['200', hop('At ', 'T1'), 'end']);
  });
});

describe('a stream', () => {
  const record = (text: string, token?: string) => `data: ${hop(text, token)}\r\n\r\n`;

  test('goes on with the records of the next hop', () => {
    const { tap, bodies, listeners, heard, play } = attempt('stream');
    play(0, 200, record('At ', 'T0').replace('CONTINUATION', 'STOP'), record('', 'T1'));
    listeners[0]?.onEnd();
    play(1, 200, record('noon.'));
    listeners[1]?.onEnd();
    expect(bodies[1]).toEqual({ contents: [], continuationToken: 'T1' });
    expect(heard.join('')).toContain(`${record('', 'T1')}\n\n${record('noon.')}end`);
    expect([heard[0], heard.filter((one) => one === '200').length, tap.exchanges]).toEqual(['200', 1, 2]);
  });

  test('whose next hop breaks off is broken, and ends where none begins', () => {
    const broken = attempt('stream');
    broken.play(0, 200, record('At ', 'T1'));
    broken.listeners[0]?.onEnd();
    broken.play(1, 200, record('no').slice(0, 30));
    broken.listeners[1]?.onFailure(FAILURE);
    expect(broken.heard.at(-1)).toBe('closed');
    const unbegun = attempt('stream');
    unbegun.play(0, 200, record('At ', 'T1'));
    unbegun.listeners[0]?.onEnd();
    unbegun.listeners[1]?.onFailure(FAILURE);
    expect(unbegun.heard.at(-1)).toBe('end');
  });

  test('of tokens without end stops after sixteen hops', () => {
    const { bodies, listeners, heard, play } = attempt('stream');
    for (let at = 0; at < listeners.length; at++) {
      play(at, 200, record('x', `T${at}`));
      listeners[at]?.onEnd();
    }
    expect([bodies.length, heard.at(-1)]).toEqual([16, 'end']);
  });
});

test.each(['plain', 'stream'] as const)('the limit of an answer is that of all its hops: %s', (operation) => {
  const first = operation === 'plain' ? hop('At ', 'T1') : `data: ${hop('At ', 'T1')}\n\n`;
  const { tap, listeners, heard, play } = attempt(operation, first.length + 5);
  play(0, 200, first);
  listeners[0]?.onEnd();
  play(1, 200, '12345');
  expect(heard.at(-1)).not.toContain('larger');
  play(1, 200, '6');
  expect(heard.at(-1)).toBe(`the response is larger than ${first.length + 5} bytes`);
  expect(tap.exchanges).toBe(2);
});

test('a refusal passes as it comes', () => {
  const { listeners, heard, play } = attempt('plain');
  play(0, 429, '{"error":', '{}}');
  listeners[0]?.onEnd();
  expect(heard).toEqual(['429', '{"error":', '{}}', 'end']);
});
