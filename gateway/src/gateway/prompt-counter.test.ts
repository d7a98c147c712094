/** Tests of prompt-counter.ts and count-prompt.ts: the thread counts as the request thread would, in bounded memory, and may die. */
import { afterEach, expect, test } from 'bun:test';
import { countPrompt } from './count-prompt.ts';
import { createPromptCounter, type PromptCounter } from './prompt-counter.ts';

const DYING = new URL('./testing/dying-prompt-worker.ts', import.meta.url);
const CHAT = { model: 'm', messages: [{ role: 'user', content: 'What is the height of the tower?' }] };
const bodyOf = (value: unknown) => Buffer.from(JSON.stringify(value));
const chat = (value: unknown = CHAT) => ({ protocol: 'chat', model: 'gpt-5-mini', body: bodyOf(value) }) as const;

let counter: PromptCounter | null = null;
afterEach(() => counter?.close());

function counted(of: PromptCounter, prompt: Parameters<typeof countPrompt>[0]): Promise<number | null> {
  return new Promise((resolve, reject) => {
    if (!of.count(prompt, resolve)) reject(new Error('there was no room'));
  });
}

test('counts what the same text costs in either format, and more for more', () => {
  const messages = { protocol: 'messages', model: 'gpt-5-mini', body: bodyOf({ ...CHAT, max_tokens: 5 }) } as const;
  const own = countPrompt(chat());
  expect(own).toBeGreaterThan(7);
  expect(countPrompt(messages)).toBe(own);
  const twice = { ...CHAT, messages: [...CHAT.messages, ...CHAT.messages] };
  expect(countPrompt(chat(twice))).toBeGreaterThan(own ?? 0);
});

test('cannot tell what is no request', () => {
  expect(countPrompt({ ...chat(), body: Buffer.from('{"model":') })).toBeNull();
  expect(countPrompt(chat({ model: 'm', messages: [{ role: 'nobody', content: 3 }] }))).toBeNull();
});

test('the thread counts the same, in order, and takes no more than eight at once', async () => {
  counter = createPromptCounter();
  const own = countPrompt(chat());
  const answers: (number | null)[] = [];
  const taken: boolean[] = [];
  await new Promise<void>((resolve) => {
    for (let prompt = 0; prompt < 10; prompt++) {
      const onCounted = (tokens: number | null) => {
        if (answers.push(tokens) === 8) resolve();
      };
      const body = prompt === 3 ? Buffer.from('[]') : chat().body;
      taken.push(counter?.count({ ...chat(), body }, onCounted) ?? false);
    }
  });
  expect(taken).toEqual([...Array(8).fill(true), false, false]);
  expect(answers).toEqual([own, own, own, null, own, own, own, own]);
  expect(await counted(counter, chat())).toBe(own);
});

test.each(['exit', 'throw'])(
  'what dies with the thread (%s) is not counted; the next starts another',
  async (death) => {
    counter = createPromptCounter(DYING);
    expect(await counted(counter, { ...chat(), model: death })).toBeNull();
    expect(await counted(counter, chat())).toBe(countPrompt(chat()));
  },
);
