/** Checks a chat completions stream by the wire reference alone, and folds it into one answer. */
import { expect } from 'bun:test';

interface ChunkCall {
  readonly index: number;
  readonly id?: string;
  readonly type?: string;
  readonly function?: { readonly name?: string; readonly arguments?: string };
}

interface Chunk {
  readonly id: string;
  readonly object: string;
  readonly created: number;
  readonly model: string;
  readonly choices: readonly {
    readonly index: number;
    readonly delta: {
      readonly role?: string;
      readonly content?: string;
      readonly reasoning_content?: string;
      readonly tool_calls?: readonly ChunkCall[];
    };
    readonly finish_reason: string | null;
  }[];
  readonly usage?: unknown;
}

interface FoldedChoice {
  content: string;
  reasoning: string;
  calls: { id: string; name: string; arguments: string }[];
  finish: string | null;
}

/** Throws a failed expectation if the stream violates a rule of the format. */
export function foldChatStream(records: readonly string[]): { choices: FoldedChoice[]; usage: unknown } {
  expect(records.at(-1)).toBe('data: [DONE]\n\n');
  const chunks = records.slice(0, -1).map((record): Chunk => {
    expect(record).toMatch(/^data: [^\n]+\n\n$/);
    return JSON.parse(record.slice('data: '.length));
  });
  const identity = (chunk: Chunk) => ({
    id: chunk.id,
    created: chunk.created,
    model: chunk.model,
    object: chunk.object,
  });
  const choices: FoldedChoice[] = [];
  const [first] = chunks;
  for (const chunk of chunks) {
    expect(identity(chunk)).toEqual({ ...identity(first ?? chunk), object: 'chat.completion.chunk' });
    expect(Array.isArray(chunk.choices)).toBe(true);
    for (const { index, delta, finish_reason } of chunk.choices) {
      const choice = choices[index];
      if (choice === undefined) {
        expect([index, delta.role]).toEqual([choices.length, 'assistant']);
        choices.push({ content: '', reasoning: '', calls: [], finish: null });
        continue;
      }
      expect(choice.finish).toBeNull();
      expect(delta.role).toBeUndefined();
      choice.content += delta.content ?? '';
      choice.reasoning += delta.reasoning_content ?? '';
      for (const call of delta.tool_calls ?? []) foldCall(choice, call);
      choice.finish = finish_reason;
    }
  }
  for (const choice of choices) expect(choice.finish).not.toBeNull();
  const last = chunks.at(-1);
  expect(last?.choices).toEqual([]);
  for (const chunk of chunks.slice(0, -1)) {
    expect(chunk.usage).toBeNull();
    expect(chunk.choices.length).toBeGreaterThan(0);
  }
  return { choices, usage: last?.usage };
}

function foldCall(choice: FoldedChoice, delta: ChunkCall): void {
  const known = choice.calls[delta.index];
  if (known === undefined) {
    expect(delta).toEqual({
      index: choice.calls.length,
      id: expect.stringMatching(/^call_/),
      type: 'function',
      function: { name: expect.any(String), arguments: '' },
    });
    choice.calls.push({ id: delta.id ?? '', name: delta.function?.name ?? '', arguments: '' });
    return;
  }
  expect(Object.keys(delta).sort()).toEqual(['function', 'index']);
  expect(delta.index).toBe(choice.calls.length - 1);
  known.arguments += delta.function?.arguments ?? '';
}
