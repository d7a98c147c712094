/** Tests that every query to a reading thread gets an answer, even if the thread dies or the store is closed. */
import { afterEach, expect, test } from 'bun:test';
import { createReadingThread, type ReadingThread } from './reading-thread.ts';

const ECHO = new URL('../testing/echo-reader.ts', import.meta.url);
let thread: ReadingThread<string, string> | null = null;
afterEach(() => thread?.close());

const kindOf = (asked: Promise<string>) => asked.catch((fault: { kind?: string }) => fault.kind);

test.each(['exit', 'throw'])(
  'a thread that dies (%s) fails what it was asked, and the next question starts another',
  async (death) => {
    thread = createReadingThread(ECHO);
    const doomed = kindOf(thread.ask(death));
    const behind = thread.ask('one');
    expect(await doomed).toBe('failed');
    expect(await behind).toBe('one');
  },
);

test('each question gets its own answer, in order', async () => {
  thread = createReadingThread(ECHO);
  const questions = ['a', 'b', 'c', 'd'];
  const { ask } = thread;
  expect(await Promise.all(questions.map((question) => ask(question)))).toEqual(questions);
});

test('questions during and after closing are rejected as closed', async () => {
  thread = createReadingThread(ECHO);
  const asked = [kindOf(thread.ask('one')), kindOf(thread.ask('two'))];
  thread.close();
  expect(await Promise.all([...asked, kindOf(thread.ask('three'))])).toEqual(['closed', 'closed', 'closed']);
});
