/**
 * Tests that bytes and events are counted once, however much a socket takes at a time: money suites compare with these
 * counts.
 */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { streamAnswer } from '../answer/answer.ts';
import { recordPart } from '../answer/body-part.ts';
import { planAnswer } from '../answer/plan-answer.ts';
import { newCall, newConnection, type OpenCall, ServedBook } from '../served.ts';
import { type PlayedOn, type Player, playAnswer } from './play-answer.ts';

const request = { method: 'POST', target: '/', requestLine: '', headLines: [], headers: [], body: new Uint8Array(0) };

function someCall(): OpenCall {
  const decided = { model: 'm', endpoint: 'chat-completions', stream: true, status: 200 } as const;
  return newCall(request, decided, newConnection(1, 0), 1, 0);
}

/** A socket that takes at most `room` bytes per write, in rotation, and drains a turn later. */
function narrowSocket(room: readonly number[], player: () => Player | null): { socket: PlayedOn; taken: Uint8Array[] } {
  const taken: Uint8Array[] = [];
  let turn = 0;
  const write = (bytes: Uint8Array, from: number, length: number): number => {
    const fits = Math.min(room[turn++ % room.length] ?? 1, length);
    taken.push(bytes.slice(from, from + fits));
    if (fits < length) setImmediate(() => player()?.drained());
    return fits;
  };
  return { socket: { write, localPort: 1, remotePort: 2 }, taken };
}

test('every byte leaves once and every event is counted once, however the kernel takes them', async () => {
  const rooms = fc
    .array(fc.integer({ min: 0, max: 40 }), { minLength: 1, maxLength: 6 })
    .filter((r) => r.some((n) => n > 0));
  const texts = fc.array(fc.string({ maxLength: 30 }), { minLength: 1, maxLength: 6 });
  const chunking = fc.constantFrom('all' as const, 'record' as const);
  await fc.assert(
    fc.asyncProperty(rooms, texts, chunking, async (room, contents, divided) => {
      const records = contents.map(
        (content) => `data: ${JSON.stringify({ content, usage: { n: content.length } })}\n\n`,
      );
      const answer = streamAnswer(records.map(recordPart));
      const call = someCall();
      let player: Player | null = null;
      const { socket, taken } = narrowSocket(room, () => player);
      const how = await new Promise((resolve) => {
        const steps = planAnswer(answer, { chunking: divided, framing: 'close' });
        player = playAnswer(socket, steps, call, new ServedBook(10), resolve);
      });
      expect(how).toBe('close');
      expect(Buffer.concat(taken).toString().split('\r\n\r\n')[1]).toBe(records.join(''));
      expect(call.bytesSent).toBe(Buffer.byteLength(records.join('')));
      expect(call.eventsSent).toBe(records.length);
      expect(call.usage).toEqual({ n: contents.at(-1)?.length });
    }),
    { numRuns: 60 },
  );
});
