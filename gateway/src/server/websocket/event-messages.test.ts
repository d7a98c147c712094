/** Tests how a stream becomes messages, at the pace of the client, and what is kept of it. */
import { expect, test } from 'bun:test';
import { EventMessages, type MessageSocket } from './event-messages.ts';

/** Takes `room` messages at once; the next one fills it. */
function socketWith(room: number) {
  const sent: string[] = [];
  let left = room;
  let buffered = 0;
  const socket: MessageSocket = {
    sendText(text) {
      sent.push(text);
      left -= 1;
      if (left >= 0) return text.length;
      buffered += text.length;
      return -1;
    },
    getBufferedAmount: () => buffered,
    cork: (callback) => callback(socket as never),
  };
  const drain = (more: number) => {
    left = more;
    buffered = 0;
  };
  return { socket, sent, drain };
}

const record = (event: object & { type: string }) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
const delta = (text: string) => ({ type: 'response.output_text.delta', delta: text });
const done = (item: object) => ({ type: 'response.output_item.done', item });
const completed = { type: 'response.completed', response: { id: 'resp_1', output: [] } };

test('each event is one message, however the bytes are cut; other records are dropped', () => {
  const stream = Buffer.from(`: ping\n\n${record(delta('ä'))}data: {"type":"keepalive"}\n\ndata: [DONE]\n\n`);
  for (const step of [1, 7, stream.length]) {
    const { socket, sent } = socketWith(100);
    const messages = new EventMessages(socket, null);
    for (let at = 0; at < stream.length; at += step) messages.write(stream.subarray(at, at + step));
    expect(sent).toEqual([JSON.stringify(delta('ä')), '{"type":"keepalive"}']);
  }
});

test('the stream id of the request is in each event', () => {
  const { socket, sent } = socketWith(100);
  new EventMessages(socket, 'a"b').write(Buffer.from(record(delta('x'))));
  expect(JSON.parse(sent[0] ?? '')).toEqual({ stream_id: 'a"b', ...delta('x') });
});

test('a client that takes nothing gets nothing more until it has taken all', async () => {
  const { socket, sent, drain } = socketWith(1);
  const messages = new EventMessages(socket, null);
  const taken = messages.write(Buffer.from(['a', 'b', 'c', 'd'].map((text) => record(delta(text))).join('')));
  expect([taken instanceof Promise, sent.length]).toEqual([true, 2]);
  messages.onDrain();
  expect(sent.length).toBe(2);
  drain(0);
  messages.onDrain();
  expect(sent.length).toBe(3);
  drain(9);
  messages.onDrain();
  expect(await taken).toBeGreaterThan(0);
  expect(sent.map((text) => JSON.parse(text).delta)).toEqual(['a', 'b', 'c', 'd']);
  expect(typeof messages.write(Buffer.from(record(delta('e'))))).toBe('number');
});

test('a whole response has its items as they came', () => {
  const { socket } = socketWith(100);
  const messages = new EventMessages(socket, null);
  messages.write(
    Buffer.from(
      'event: response.output_item.done\ndata: {"item" : {"id": "msg_1","n":1.0}, "type":"response.output_item.done"}\n\n',
    ),
  );
  messages.write(Buffer.from(`data: ${JSON.stringify(done({ type: 'function_call', id: 'fc_1' }))}\n\n`));
  expect(messages.whole).toBeNull();
  messages.write(Buffer.from(record(completed)));
  expect([messages.whole?.id, messages.whole?.output?.map(String)]).toEqual([
    'resp_1',
    ['{"id": "msg_1","n":1.0}', '{"type":"function_call","id":"fc_1"}'],
  ]);
});

test.each([
  [{ type: 'reasoning', id: 'rs_1', summary: [] }, false],
  [{ type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'x' }, true],
  [{ type: 'reasoning', id: 'rs_gw_1', summary: [] }, true],
  [{ type: 'reasoning', summary: [] }, true],
])('%j is whole: %p', (item, isWhole) => {
  const { socket } = socketWith(100);
  const messages = new EventMessages(socket, null);
  messages.write(Buffer.from(record(done(item)) + record(completed)));
  expect(messages.whole?.output !== null).toBe(isWhole);
});

test('a failed response is not whole', () => {
  const { socket } = socketWith(100);
  const messages = new EventMessages(socket, null);
  messages.write(Buffer.from(record({ type: 'response.failed', response: { id: 'resp_1' } } as never)));
  expect(messages.whole).toBeNull();
});
