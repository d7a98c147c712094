/** Handles one client connection: answers its requests sequentially, and closes it as scripted. */
import type { Socket } from 'bun';
import { errorAnswer } from '../answer/answer.ts';
import { decideCall, wantsClose } from '../answer/answer-call.ts';
import { planAnswer, type Step } from '../answer/plan-answer.ts';
import { answerControl, isControl } from '../control.ts';
import type { Rig } from '../rig.ts';
import type { Scenario } from '../scenario.ts';
import { endCall, newCall, newConnection, type OpenCall } from '../served.ts';
import { createRequestBuffer, type FakeRequest } from './parse-request.ts';
import { type Player, playAnswer } from './play-answer.ts';

/** Receives the socket's events. */
export interface Connection {
  readonly received: (bytes: Uint8Array) => void;
  readonly drained: () => void;
  readonly closed: () => void;
}

/** Starts the entry of a new socket. */
export function openConnection(rig: Rig, socket: Socket<Connection | null>, number: number): Connection {
  const { book } = rig;
  const account = newConnection(number, book.nowMs());
  book.addConnection(account);
  const requests = createRequestBuffer();
  let busy = false;
  let player: Player | null = null;
  let stalled: OpenCall | null = null;
  let resetNext = false;
  let idleTimer: ReturnType<typeof setTimeout> | null = null;
  let readSincePause = 0;

  const closeWith = (how: 'fin' | 'rst'): void => {
    if (how === 'rst') socket.terminate();
    else socket.end();
  };

  const afterAnswer = (scenario: Scenario, close: boolean): void => {
    busy = false;
    account.responses += 1;
    if (close || (scenario.closeAfterResponses !== undefined && account.responses >= scenario.closeAfterResponses)) {
      closeWith('fin');
      return;
    }
    if (scenario.resetAtNextRequest === true) resetNext = true;
    if (scenario.dropIdleConnectionAfterMs !== undefined) {
      idleTimer = setTimeout(() => closeWith('fin'), scenario.dropIdleConnectionAfterMs);
    }
    // In a later microtask: a long pipeline must not nest, and the player of this answer is not stored yet.
    if (requests.heldBytes() > 0) queueMicrotask(answerNext);
  };

  const play = (steps: Iterable<Step>, call: OpenCall | null, scenario: Scenario, close: boolean): void => {
    player = playAnswer(socket, steps, call, book, (how) => {
      if (call !== null) endCall(call, how, book.nowMs());
      if (how === 'stall') stalled = call;
      else if (how === 'keep' || how === 'close') afterAnswer(scenario, close || how === 'close');
      else if (how !== 'gone') closeWith(how);
      book.changed();
    });
  };

  const answer = (request: FakeRequest): void => {
    const close = wantsClose(request);
    if (isControl(request)) {
      answerControl(rig, request).then((reply) => {
        if (account.closedMs === null) play(planAnswer(reply, {}), null, {}, close);
      });
      return;
    }
    account.requests += 1;
    const decided = decideCall(rig, request);
    const call = newCall(request, decided, account, book.nextNumber(), book.nowMs());
    book.addCall(call);
    play(decided.steps, call, decided.scenario, close);
  };

  function answerNext(): void {
    if (busy || account.closedMs !== null) return;
    const next = requests.next();
    if (next === null) return;
    busy = true;
    if (next.kind === 'request') {
      answer(next.request);
      return;
    }
    account.malformed = next.reason;
    account.unfinishedRequests += 1;
    const refusal = errorAnswer('chat-completions', 400, next.reason);
    play(planAnswer(refusal, { framing: 'close' }), null, {}, true);
  }

  const readSlowly = (received: number): void => {
    const { slowReading } = rig;
    if (slowReading === null) return;
    readSincePause += received;
    if (readSincePause < slowReading.bytes) return;
    readSincePause = 0;
    socket.pause();
    setTimeout(() => {
      if (account.closedMs === null) socket.resume();
    }, slowReading.pauseMs);
  };

  return {
    received: (bytes) => {
      if (resetNext) {
        account.resetUnread += 1;
        closeWith('rst');
        book.changed();
        return;
      }
      if (idleTimer !== null) clearTimeout(idleTimer);
      idleTimer = null;
      requests.add(bytes);
      readSlowly(bytes.byteLength);
      answerNext();
    },
    drained: () => player?.drained(),
    closed: () => {
      account.closedMs = book.nowMs();
      if (idleTimer !== null) clearTimeout(idleTimer);
      if (!busy && requests.heldBytes() > 0) account.unfinishedRequests += 1;
      player?.gone();
      if (stalled !== null) stalled.leftAtMs = account.closedMs;
      book.changed();
    },
  };
}
