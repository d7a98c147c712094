/** Tests what a stream writes to the journal: one frame where it arrives whole, otherwise a hold before its first byte. */
import { Database } from 'bun:sqlite';
import { afterAll, expect, test } from 'bun:test';
import { parseBlock } from '../../src/store/journal/block.ts';
import { decodeFrames } from '../../src/store/journal/decode-frames.ts';
import { databasePath } from '../../src/store/sqlite/database/connection.ts';
import { temporaryFolders } from '../../src/store/testing/temporary-folder.ts';
import { pointAt } from '../harness/point-at.ts';
import { startGateway } from '../harness/start-gateway.ts';

const newFolder = temporaryFolders();
const chunk = (delta: object, more: object = {}) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: null, ...more }] })}\n\n`;
const BEGINNING = chunk({ role: 'assistant', content: 'Good day' });
const REST = `${chunk({}, { finish_reason: 'stop' })}data: [DONE]\n\n`;
/** Ends the stream of `begins`. */
let endStream: () => void = () => undefined;

const upstream = Bun.serve({
  port: 0,
  async fetch(request) {
    const { model } = (await request.json()) as { readonly model: string };
    const headers = { 'content-type': 'text/event-stream' };
    if (model === 'whole') return new Response(BEGINNING + REST, { headers });
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(BEGINNING);
        endStream = () => {
          controller.enqueue(REST);
          controller.close();
        };
      },
    });
    return new Response(body, { headers });
  },
});
afterAll(() => upstream.stop(true));

function framesIn(dataDir: string): string[] {
  const database = new Database(databasePath(dataDir), { readonly: true });
  try {
    const blocks = database.query<{ bytes: Uint8Array; epoch: number }, []>(
      'SELECT bytes, epoch FROM block ORDER BY seq',
    );
    return blocks.all().flatMap(({ bytes, epoch }) => {
      const block = parseBlock(Buffer.from(bytes), 0, epoch);
      if (block === null) throw new Error('a block in the table cannot be read');
      return decodeFrames(block.body, block.frames).map((frame) =>
        frame.kind === 'end' && frame.hold !== null ? 'end with its hold' : frame.kind,
      );
    });
  } finally {
    database.close();
  }
}

async function framesOf(model: 'whole' | 'begins', requests: number): Promise<readonly string[]> {
  const dataDir = newFolder();
  const config = pointAt(upstream.url.origin, { chat: ['whole', 'begins'] });
  const gateway = await startGateway({ config, dataDir });
  try {
    for (let nth = 0; nth < requests; nth++) {
      const reply = await fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model, stream: true, messages: [{ role: 'user', content: 'Good day.' }] }),
      });
      let text = '';
      for await (const bytes of reply.body ?? []) {
        if (text === '') endStream();
        text += Buffer.from(bytes).toString();
      }
      expect([reply.status, text]).toEqual([200, BEGINNING + REST]);
    }
  } finally {
    await gateway.stop(true);
  }
  return framesIn(dataDir);
}

test('a stream that arrives whole before its hold is written is one frame', async () => {
  const frames = await framesOf('whole', 30);
  // On a busy machine some take longer than a hold waits.
  const whole = frames.filter((frame) => frame === 'end with its hold').length;
  expect(whole).toBeGreaterThan(0);
  expect(frames.length).toBe(30 + (30 - whole));
});

test('a stream that begins has its hold written first', async () => {
  expect(await framesOf('begins', 3)).toEqual(['hold', 'end', 'hold', 'end', 'hold', 'end']);
});
