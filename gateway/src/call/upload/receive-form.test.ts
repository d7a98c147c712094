/** Tests how long an upload may take, with a stream of pieces that a test sends. */
import { describe, expect, test } from 'bun:test';
import { BodyBytes } from '../../admission/capacity.ts';
import { CallFailure } from '../../errors/call-failure.ts';
import { BODY_TIME_LIMITS } from '../request/read-body.ts';
import { ArrivingForm, readBoundary } from './receive-form.ts';
import { UploadBody } from './upload-body.ts';

const MIB = 1024 * 1024;
const HEAD = '--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n';

function open(uploadBytesPerSecondMin: number) {
  const bytes = new BodyBytes({ process: MIB, key: MIB });
  const shares = { memory: bytes.open('key'), disk: bytes.open('key') };
  const spool = { folder: '/nowhere', freeBytes: () => MIB };
  const body = new UploadBody(spool, { uploadBytesMax: MIB, spoolFreeBytesMin: 0 }, shares);
  const form = { body, boundary: 'b', parts: [] };
  const times = { uploadStallTimeoutMs: 1_000, uploadBytesPerSecondMin };
  const arriving = new ArrivingForm({ ...BODY_TIME_LIMITS, ...times }, { address: () => null });
  const client = new AbortController();
  let controller!: ReadableStreamDefaultController<Uint8Array>;
  const stream = new ReadableStream<Uint8Array>({
    start(given) {
      controller = given;
    },
  });
  const received = arriving.receiveForm({ body: stream, signal: client.signal }, form).then(
    () => 'received',
    (error: unknown) => (error instanceof CallFailure ? `${error.kind}: ${error.message}` : 'fault'),
  );
  const send = async (text: string) => {
    const before = arriving.byteCount;
    controller.enqueue(Buffer.from(text));
    while (arriving.byteCount === before) await new Promise((resolve) => setImmediate(resolve));
  };
  return { arriving, client, form, received, send, end: () => controller.close() };
}

describe('an upload', () => {
  test('of any whole time is received while its bytes arrive', async () => {
    const { arriving, form, received, send, end } = open(10);
    await send(HEAD);
    for (let second = 1; second <= 200; second++) {
      await send('x'.repeat(20));
      // The clock is the test's: the upload is judged as if a second had passed since the bytes before.
      arriving.onDue(arriving.startMs + 900);
    }
    await send('\r\n--b--\r\n');
    end();
    expect([await received, form.parts.length]).toEqual(['received', 1]);
  });

  test('without new bytes ends', async () => {
    const { arriving, received, send } = open(10);
    await send(HEAD);
    arriving.onDue(performance.now() + 999);
    arriving.onDue(performance.now() + 1_001);
    expect(await received).toBe('body_timeout: nothing of the upload arrived for 1000 ms');
  });

  test('that crawls ends once its rate was too low for the whole time', async () => {
    const { arriving, received, send } = open(1_000_000);
    await send(HEAD);
    const nowMs = performance.now();
    arriving.onDue(arriving.startMs + 999);
    // The bytes must come late enough that their silence is not yet a second long below.
    await Bun.sleep(nowMs + 5 - performance.now());
    await send('x');
    arriving.onDue(arriving.startMs + 1_001);
    expect(await received).toBe('body_timeout: less than 1000000 bytes of the upload arrived per second');
  });

  test('whose client leaves ends at once', async () => {
    const { client, received, send } = open(10);
    await send(HEAD);
    client.abort();
    expect(await received).toStartWith('client_left');
  });

  test('that is no form ends at once', async () => {
    const { received, send } = open(10);
    await send('{"model":"whisper-1"}');
    expect(await received).toStartWith('invalid_request: the body is not a form');
  });
});

test.each(['multipart/form-data', 'multipart/form-data; boundary=""'])('%s has no boundary', (type) => {
  expect(() => readBoundary(type)).toThrow('expected multipart/form-data with one boundary');
});
