/** Tests outbox.ts: bytes leave in order whatever the client's socket does, and waiting callers are notified. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { Outbox } from './outbox.ts';

/** A client whose socket becomes full on demand: from then on a write waits for `take`. */
class Client {
  readonly written: string[] = [];
  flushes = 0;
  closed = false;
  full = false;
  #taken: (() => void) | null = null;

  write(bytes: Uint8Array): number | Promise<number> {
    this.written.push(Buffer.from(bytes).toString());
    if (!this.full) return bytes.length;
    return new Promise((resolve) => {
      this.#taken = () => resolve(bytes.length);
    });
  }

  flush(): void {
    this.flushes += 1;
  }

  close(): void {
    this.closed = true;
  }

  /** Takes the pending bytes; the outbox continues by itself in the next turn of the event loop. */
  async take(full = false): Promise<void> {
    this.full = full;
    this.#taken?.();
    await new Promise((resolve) => setImmediate(resolve));
  }

  get text(): string {
    return this.written.join('');
  }
}

function start() {
  const backlogs: number[] = [];
  let caughtUp = 0;
  let seen = '';
  const listener = {
    onBacklog: (bytes: number) => backlogs.push(bytes),
    onCaughtUp: () => {
      caughtUp += 1;
    },
  };
  let allowed = true;
  const outbox = new Outbox(
    listener,
    (bytes) => {
      seen += Buffer.from(bytes).toString();
    },
    () => allowed,
  );
  const allow = (now: boolean) => {
    allowed = now;
  };
  const put = (text: string) => outbox.put(Buffer.from(text));
  return { outbox, put, backlogs, client: new Client(), caughtUp: () => caughtUp, seen: () => seen, allow };
}

test('the whole of a short stream that was closed before a client came is taken once; no client is connected later', async () => {
  const { outbox, client } = start();
  outbox.put(Buffer.from('a'.repeat(15_000)));
  outbox.flush();
  outbox.put(Buffer.from('b'));
  expect(outbox.takeWhole()).toBeNull();
  outbox.close();
  expect(String(outbox.takeWhole())).toBe(`${'a'.repeat(15_000)}b`);
  expect([outbox.takeWhole(), outbox.closed]).toEqual([null, true]);
  await expect(outbox.attach(client)).rejects.toThrow('given up');
});

test('a long stream that was closed before a client came goes to the client, with one flush at its end', async () => {
  const { outbox, client } = start();
  outbox.put(Buffer.from('a'.repeat(40_000)));
  outbox.close();
  expect(outbox.takeWhole()).toBeNull();
  await outbox.attach(client);
  expect(client.text).toBe('a'.repeat(40_000));
  expect([client.flushes, client.closed, outbox.closed]).toEqual([0, true, true]);
});

describe('an outbox', () => {
  test('keeps bytes from before the client is connected, and sends them then', async () => {
    const { outbox, put, client } = start();
    put('a');
    outbox.flush();
    put('b');
    const done = outbox.attach(client);
    expect([client.text, client.flushes]).toEqual(['ab', 1]);
    outbox.close();
    await done;
    expect([client.closed, outbox.closed]).toEqual([true, true]);
  });

  test('reports all bytes put in, in order, whether the client takes them or not', () => {
    const { outbox, put, seen } = start();
    const read = Buffer.from('abcdef');
    put('1');
    outbox.putSpan(read, 0, 2);
    outbox.putSpan(read, 2, 3);
    outbox.putSpan(read, 4, 6);
    put('2');
    outbox.flush();
    expect(seen()).toBe('1abcef2');
  });

  test('holds back what may not go out, until it may', () => {
    const { outbox, put, client, allow } = start();
    void outbox.attach(client);
    put('1');
    outbox.flush();
    allow(false);
    put('2');
    outbox.flush();
    put('3');
    outbox.flush();
    expect(client.text).toBe('1');
    allow(true);
    outbox.release();
    expect(client.text).toBe('123');
  });

  test('drops bytes that were held back, but none that the client has not taken yet', () => {
    const { outbox, put, client, allow } = start();
    put('1');
    outbox.flush();
    allow(false);
    put('2');
    outbox.flush();
    outbox.dropHeld();
    allow(true);
    put('3');
    void outbox.attach(client);
    expect(client.text).toBe('13');
  });

  test('hands over at a flush, and flushes the client once for a group', () => {
    const { outbox, put, client } = start();
    void outbox.attach(client);
    put('a');
    put('');
    put('b');
    expect(client.text).toBe('');
    outbox.flush();
    expect([client.written, client.flushes]).toEqual([['a', 'b'], 1]);
    outbox.flush();
    expect(client.flushes).toBe(1);
  });

  test('closed before it is connected closes the client after the last byte', async () => {
    const { outbox, put, client } = start();
    put('last');
    outbox.close();
    expect(outbox.closed).toBe(false);
    await outbox.attach(client);
    expect([client.text, client.closed, outbox.closed]).toEqual(['last', true, true]);
  });
});

describe('a client that is behind', () => {
  test('is reported with the waiting bytes, and again once it has caught up', async () => {
    const { outbox, put, client, backlogs, caughtUp } = start();
    void outbox.attach(client);
    client.full = true;
    put('first');
    outbox.flush();
    expect(outbox.full).toBe(true);
    put('abc');
    outbox.flush();
    put('de');
    outbox.flush();
    expect([backlogs, client.text, caughtUp()]).toEqual([[3, 5], 'first', 0]);
    await client.take();
    expect([client.text, outbox.full, caughtUp()]).toEqual(['firstabcde', false, 1]);
  });

  test('a client that is full again at once has not caught up', async () => {
    const { outbox, put, client, caughtUp } = start();
    void outbox.attach(client);
    client.full = true;
    put('a');
    put('b');
    outbox.flush();
    await client.take(true);
    expect([client.text, outbox.full, caughtUp()]).toEqual(['ab', true, 0]);
    await client.take();
    expect([outbox.full, caughtUp()]).toEqual([false, 1]);
  });

  test('a slow client gets the rest before it is closed', async () => {
    const { outbox, put, client } = start();
    const done = outbox.attach(client);
    client.full = true;
    put('a');
    outbox.flush();
    put('b');
    outbox.close();
    expect(client.closed).toBe(false);
    await client.take();
    await done;
    expect([client.text, client.closed]).toEqual(['ab', true]);
  });

  test('stuckSinceMs is the time since which the client took nothing', async () => {
    const { outbox, put, client } = start();
    void outbox.attach(client);
    client.full = true;
    const beforeMs = performance.now();
    put('a');
    outbox.flush();
    const sinceMs = outbox.stuckSinceMs;
    expect(sinceMs).toBeGreaterThanOrEqual(beforeMs);
    put('b');
    outbox.flush();
    expect(outbox.stuckSinceMs).toBe(sinceMs);
    await client.take(true);
    expect(outbox.stuckSinceMs).toBeGreaterThan(sinceMs);
  });

  test('bytes that the client did not take survive reuse of upstream’s memory', async () => {
    const { outbox, put, client } = start();
    void outbox.attach(client);
    client.full = true;
    put('a');
    const reused = Buffer.from('bbb');
    outbox.put(reused);
    outbox.flush();
    reused.fill('x');
    await client.take();
    expect(client.text).toBe('abbb');
  });
});

test('a killed outbox breaks the connection, reports it, and sends nothing more', async () => {
  const { outbox, put, client } = start();
  const done = outbox.attach(client).then(
    () => 'clean',
    (error: Error) => error.message,
  );
  client.full = true;
  put('a');
  outbox.flush();
  put('never');
  outbox.kill();
  await client.take();
  outbox.flush();
  expect([await done, client.text, client.closed, outbox.closed]).toEqual([
    'the connection was given up',
    'a',
    false,
    true,
  ]);
});

test('an outbox that was killed before its client was connected breaks that connection too', async () => {
  const { outbox, put, client } = start();
  put('a');
  outbox.kill();
  await expect(outbox.attach(client)).rejects.toThrow('given up');
  expect([client.text, client.closed, outbox.closed]).toEqual(['', false, true]);
});

test('an outbox that was broken off hands over what was put in, then breaks the connection', async () => {
  const { outbox, put, client } = start();
  put('a');
  outbox.breakOff();
  expect(outbox.takeWhole()).toBeNull();
  await expect(outbox.attach(client)).rejects.toThrow('given up');
  expect([client.text, client.closed, outbox.closed]).toEqual(['a', false, true]);
});

test('every order of puts, flushes and full sockets hands over the same bytes in the same order', async () => {
  const step = fc.oneof(
    fc.string({ minLength: 1, maxLength: 3 }).map((text) => ({ put: text })),
    fc.constantFrom('flush' as const, 'fill' as const, 'take' as const),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30, size: 'max' }), fc.nat(30), async (steps, attachAt) => {
      const { outbox, put, client } = start();
      let wanted = '';
      let done: Promise<void> | null = null;
      for (const [index, one] of steps.entries()) {
        if (index === attachAt) done = outbox.attach(client);
        if (one === 'flush') outbox.flush();
        else if (one === 'fill') client.full = true;
        else if (one === 'take') await client.take();
        else {
          put(one.put);
          wanted += one.put;
        }
      }
      done ??= outbox.attach(client);
      outbox.close();
      await client.take();
      await done;
      expect(client.text).toBe(Buffer.from(wanted).toString());
    }),
    { numRuns: 200 },
  );
});
