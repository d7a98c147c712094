/**
 * Drives one client: keeps one connection alive and sends one call after another as its feed allows, until the run
 * drains.
 */
import { createMessageReader } from '../http/message-reader.ts';
import { createOutbox, type Outbox } from '../http/outbox.ts';
import { type AnswerCheck, createAnswerCheck } from './answer-check.ts';
import type { CallFeed } from './call-feed.ts';
import type { ExpectedAnswer } from './load-plan.ts';
import { FAILURES_MAX, type Tally } from './tally.ts';

export interface DrivenConnection {
  /** Resolves when the last call is over and the connection is closed. */
  readonly done: Promise<void>;
  /** Drops the connection and its current call. */
  abandon(): void;
}

interface RunningCall {
  readonly startedAt: number;
  readonly check: AnswerCheck;
  status: number;
  closing: boolean;
}

/** A subject may close an idle connection just as a request is sent; more of these in a row count as a failure. */
const RECONNECTS_IN_A_ROW_MAX = 3;

/** Starts the client immediately. Counts every fault in the tally; throws nothing. */
export function driveConnection(
  port: number,
  request: Buffer,
  expect: ExpectedAnswer,
  tally: Tally,
  feed: CallFeed,
): DrivenConnection {
  const done = Promise.withResolvers<void>();
  let socket: Bun.Socket<undefined> | null = null;
  let outbox: Outbox | null = null;
  let call: RunningCall | null = null;
  let reconnectsInARow = 0;
  let abandoned = false;

  function mayGoOn(): boolean {
    return !abandoned && tally.phase !== 'drain' && tally.failures < FAILURES_MAX;
  }

  function leave(): void {
    const old = socket;
    call = null;
    socket = null;
    feed.forget(startCall);
    old?.terminate();
    done.resolve();
  }

  function startCall(): void {
    if (!mayGoOn()) {
      leave();
      return;
    }
    const startedAt = feed.take(startCall);
    if (startedAt === null) return;
    const check = createAnswerCheck(
      expect,
      () => tally.first(startedAt),
      () => {
        if (tally.phase === 'window') tally.events += 1;
      },
    );
    call = { startedAt, check, status: 0, closing: false };
    outbox?.send(request);
  }

  function endCall(): void {
    const ended = call;
    if (ended === null) return;
    call = null;
    reconnectsInARow = 0;
    const problem = ended.check.problem(ended.status);
    if (problem === null) tally.ok(ended.startedAt);
    else tally.fail(problem);
    if (ended.closing) reconnect();
    else startCall();
  }

  function reconnect(): void {
    const old = socket;
    socket = null;
    feed.forget(startCall);
    old?.terminate();
    if (mayGoOn()) void connect();
    else leave();
  }

  function failConnection(reason: string): void {
    call = null;
    tally.fail(reason);
    reconnect();
  }

  function onClosed(): void {
    if (call !== null && call.status !== 0) failConnection('the connection closed in the middle of an answer');
    else if (call !== null && reconnectsInARow >= RECONNECTS_IN_A_ROW_MAX) {
      failConnection('the connection closed repeatedly before any answer');
    } else {
      reconnectsInARow += 1;
      tally.reconnects += 1;
      reconnect();
    }
  }

  async function connect(): Promise<void> {
    const reader = createMessageReader(
      {
        onHead(head) {
          if (call === null) throw new Error('an answer came without a request');
          call.status = Number(head.slice(9, 12));
          call.closing = /\r\nconnection:[ \t]*close/i.test(head);
        },
        onBody: (bytes) => call?.check.onBody(bytes),
        onEnd: endCall,
      },
      'refuse',
    );
    try {
      await Bun.connect<undefined>({
        hostname: '127.0.0.1',
        port,
        socket: {
          open(opened) {
            socket = opened;
            outbox = createOutbox(opened);
            startCall();
          },
          data(from, bytes) {
            if (from !== socket) return;
            try {
              reader.push(bytes);
            } catch (error) {
              if (from === socket) failConnection(String(error));
            }
          },
          drain(from) {
            if (from === socket) outbox?.flush();
          },
          close(from) {
            if (from === socket) onClosed();
          },
          error(from, error) {
            if (from === socket) failConnection(error.message);
          },
        },
      });
    } catch (error) {
      failConnection(`connect to 127.0.0.1:${port}: ${String(error)}`);
    }
  }

  void connect();
  return {
    done: done.promise,
    abandon() {
      abandoned = true;
      leave();
    },
  };
}
