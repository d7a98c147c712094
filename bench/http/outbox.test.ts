/** Tests that an outbox keeps bytes in order whatever the socket takes, and drops them when it closed. */
import { expect, test } from 'bun:test';
import { createOutbox } from './outbox.ts';

test('bytes leave in order and whole, whatever the socket takes at a time', () => {
  for (let room = 1; room <= 12; room += 1) {
    let sent = '';
    let free = room;
    const outbox = createOutbox({
      write(bytes) {
        const taken = Math.min(free, bytes.length);
        free -= taken;
        sent += Buffer.from(bytes.subarray(0, taken)).toString();
        return taken;
      },
    });
    for (const text of ['one ', 'two ', 'three']) outbox.send(Buffer.from(text));
    for (let drains = 0; !outbox.isEmpty && drains < 20; drains += 1) {
      free = room;
      outbox.flush();
    }
    expect(sent).toBe('one two three');
    expect(outbox.isEmpty).toBe(true);
  }
});

test('bytes for a closed socket are dropped', () => {
  const outbox = createOutbox({ write: () => -1 });
  outbox.send(Buffer.from('late'));
  expect(outbox.isEmpty).toBe(true);
});
