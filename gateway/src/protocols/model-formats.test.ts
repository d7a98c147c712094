/** Tests which formats requests for a model take, by its name, its host and what the operator lists. */
import { expect, test } from 'bun:test';
import { formatsOfModel, OPENAI_DIRECT } from './model-formats.ts';
import { CLIENT_PROTOCOL_NAMES } from './names.ts';

const SPOKEN = ['chat', 'responses', ...OPENAI_DIRECT, 'rerank'] as const;

test.each([
  ['gpt-5.2', ['chat', 'responses']],
  ['text-embedding-3-small', ['embeddings']],
  ['intfloat/e5-mistral-7b-instruct', ['embeddings']],
  ['BAAI/bge-m3', ['embeddings']],
  ['sentence-transformers/all-MiniLM-L6-v2', ['embeddings']],
  ['bge-reranker-v2-m3', ['rerank']],
  ['omni-moderation-latest', ['moderations']],
  ['gpt-3.5-turbo-instruct', ['completions']],
  ['qwen2.5-7b-instruct', ['chat', 'responses']],
])('%s goes out as %j', (model, formats) => {
  expect<readonly string[]>(formatsOfModel(SPOKEN, {}, model, null)).toEqual(formats);
});

test('the list of the operator holds over the name; all endpoints say nothing', () => {
  expect(formatsOfModel(SPOKEN, {}, 'mine', ['embeddings'])).toEqual(['embeddings']);
  expect(formatsOfModel(SPOKEN, {}, 'embed-and-chat', ['messages', 'embeddings'])).toEqual([
    'chat',
    'responses',
    'embeddings',
  ]);
  expect(formatsOfModel(SPOKEN, {}, 'bge-m3', CLIENT_PROTOCOL_NAMES)).toEqual(['embeddings']);
});

test('a host has its own forms, or completes with its chat models; one that speaks nothing of the kind keeps all', () => {
  const voyage = { forms: ['voyage_embeddings', 'voyage_rerank'] } as const;
  expect(formatsOfModel(SPOKEN, voyage, 'voyage-4', null)).toEqual(['voyage_embeddings']);
  expect(formatsOfModel(SPOKEN, voyage, 'rerank-2.5', null)).toEqual(['voyage_rerank']);
  expect(formatsOfModel(SPOKEN, { completes: true }, 'llama', null)).toEqual(['chat', 'responses', 'completions']);
  const mistral = { transcribes: /^voxtral/ };
  expect(formatsOfModel(SPOKEN, mistral, 'voxtral-mini-latest', null)).toEqual(['chat', 'responses', 'audio']);
  expect(formatsOfModel(SPOKEN, mistral, 'voxtral-mini-transcribe-2602', null)).toEqual(['audio']);
  expect(formatsOfModel(SPOKEN, mistral, 'mistral-small-latest', null)).toEqual(['chat', 'responses']);
  expect(formatsOfModel(['messages'], {}, 'claude-embed', null)).toEqual(['messages']);
});
