/** Tests chained-exchange.ts: the listener of several exchanges sees one, and counts, pauses and aborts reach the right one. */
import { describe, expect, test } from 'bun:test';
import type { ExchangeListener } from '../../upstream/exchange.ts';
import type { ResponseHead } from '../../upstream/response-head.ts';
import { type Ending, type OpenExchange, openResending } from './chained-exchange.ts';

function headOf(status: number): ResponseHead {
  return { status, headers: [], framing: 'close', lengthBytes: 0, keepAlive: false };
}

/** An exchange that the test plays by calling its listener. */
class Played {
  sentAtMs = 0;
  headAtMs = 0;
  lastByteAtMs = 0;
  exchanges = 1;
  readonly calls: string[] = [];
  listener: ExchangeListener | null = null;

  readonly open: OpenExchange = (listener) => {
    this.listener = listener;
    return this;
  };

  pause = () => void this.calls.push('pause');
  resume = () => void this.calls.push('resume');
  abort = () => void this.calls.push('abort');

  answer(status: number, ...texts: string[]): void {
    this.listener?.onHead(headOf(status));
    for (const text of texts) this.listener?.onBody(Buffer.from(text));
    this.listener?.onEnd();
  }
}

function bodyOf(ending: Ending | undefined): string {
  return ending !== undefined && 'body' in ending ? ending.body.toString() : 'no body';
}

class Outer implements ExchangeListener {
  readonly heard: string[] = [];
  onHead = ({ status }: ResponseHead) => void this.heard.push(String(status));
  onBody = (span: Uint8Array) => void this.heard.push(Buffer.from(span).toString());
  onEnd = () => void this.heard.push('end');
  onFailure = ({ message }: { readonly message: string }) => void this.heard.push(message);
}

describe('a refusal', () => {
  test('that another exchange follows is not heard', () => {
    const [first, second, outer] = [new Played(), new Played(), new Outer()];
    const seen: Ending[] = [];
    const tap = openResending(
      first.open,
      (refusal) => {
        seen.push(refusal);
        return second.open;
      },
      outer,
    );
    first.sentAtMs = 5;
    first.answer(403, 'no', 'pe');
    expect([outer.heard, tap.exchanges, tap.headAtMs, bodyOf(seen[0])]).toEqual([[], 2, 0, 'nope']);
    second.sentAtMs = 9;
    second.lastByteAtMs = 11;
    second.exchanges = 2;
    second.answer(200, 'y', 'es');
    expect(outer.heard).toEqual(['200', 'y', 'es', 'end']);
    expect([tap.exchanges, tap.sentAtMs, tap.lastByteAtMs, tap.headAtMs > 0]).toEqual([3, 5, 11, true]);
  });

  test('that is the last one is heard as it was judged', () => {
    const [first, outer] = [new Played(), new Outer()];
    openResending(first.open, () => ({ head: headOf(400), body: Buffer.from('judged') }), outer);
    first.answer(400, 'raw');
    expect(outer.heard).toEqual(['400', 'judged', 'end']);
  });

  test('of more than 64 KiB passes without a judgment', () => {
    const [first, outer] = [new Played(), new Outer()];
    const long = 'x'.repeat(40_000);
    openResending(
      first.open,
      () => {
        throw new Error('judged');
      },
      outer,
    );
    first.answer(500, long, long, 'more');
    expect(outer.heard).toEqual(['500', long, long, 'more', 'end']);
  });

  test('that is cut is a failure', () => {
    const [first, outer] = [new Played(), new Outer()];
    openResending(
      first.open,
      () => {
        throw new Error('judged');
      },
      outer,
    );
    first.listener?.onHead(headOf(500));
    first.listener?.onFailure({ kind: 'truncated', message: 'cut', sent: true, stale: false });
    expect(outer.heard).toEqual(['500', 'cut']);
  });

  test('that are refused before an exchange that sends nothing leave nothing to bill', () => {
    const [first, second, outer] = [new Played(), new Played(), new Outer()];
    const tap = openResending(first.open, (ending) => ('head' in ending ? second.open : ending), outer);
    first.sentAtMs = 5;
    first.answer(403, 'no');
    expect(tap.sentAtMs).toBe(5);
    second.listener?.onFailure({ kind: 'connect', message: 'no such host', sent: false, stale: false });
    expect([outer.heard, tap.sentAtMs]).toEqual([['no such host'], 0]);
  });

  test('may be a failure before the head, which another exchange can follow', () => {
    const unreached = { kind: 'connect', message: 'no such host', sent: false, stale: false } as const;
    const [first, second, outer] = [new Played(), new Played(), new Outer()];
    openResending(first.open, (ending) => (ending === unreached ? second.open : ending), outer);
    first.listener?.onFailure(unreached);
    expect(outer.heard).toEqual([]);
    second.listener?.onFailure({ ...unreached, message: 'no host either' });
    expect(outer.heard).toEqual(['no host either']);
  });
});

describe('the tap', () => {
  test('pauses the next exchange if the one before was paused', () => {
    const [first, second] = [new Played(), new Played()];
    const tap = openResending(first.open, () => second.open, new Outer());
    tap.pause();
    first.answer(404);
    tap.resume();
    expect([first.calls, second.calls]).toEqual([['pause'], ['pause', 'resume']]);
  });

  test('aborts the exchange that runs, and opens none after it', () => {
    const [first, second, outer] = [new Played(), new Played(), new Outer()];
    const tap = openResending(first.open, () => second.open, outer);
    tap.abort();
    expect(first.calls).toEqual(['abort']);
    first.answer(404);
    expect([second.listener, outer.heard]).toEqual([null, []]);
  });

  test('calls no listener that aborted at the head', () => {
    const [first, outer] = [new Played(), new Outer()];
    const tap = openResending(first.open, (refusal) => refusal, outer);
    outer.onHead = () => void tap.abort();
    first.answer(500, 'body');
    expect(outer.heard).toEqual([]);
  });
});
