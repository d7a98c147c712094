/** Tests files and conversations through the official SDKs, as their documentation uses them. */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import Anthropic from '@anthropic-ai/sdk';
import type OpenAI from 'openai';
import { NotFoundError, toFile } from 'openai';
import { FILE_BYTES, type ObjectUpstream, startObjectUpstream } from '../endpoints/object-upstream.ts';
import type { RunningGateway } from '../harness/start-gateway.ts';
import { anthropic, openAi, rejection, startStateGateway } from './sdk-rig.ts';

let upstream: ObjectUpstream;
let gateway: RunningGateway;
let openai: OpenAI;
let claude: Anthropic;

beforeAll(async () => {
  upstream = startObjectUpstream();
  gateway = await startStateGateway(upstream.url);
  openai = openAi({ gateway });
  claude = anthropic({ gateway });
}, 60_000);
afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

test('openai uploads, lists, downloads and deletes files', async () => {
  const ids: string[] = [];
  for (const name of ['a.txt', 'b.txt', 'c.txt']) {
    const file = await toFile(Buffer.from('hello'), name);
    const expires_after = { anchor: 'created_at', seconds: 3_600 } as const;
    ids.push((await openai.files.create({ file, purpose: 'user_data', expires_after })).id);
  }
  const listed: string[] = [];
  for await (const { id } of openai.files.list({ limit: 2 })) listed.push(id);
  expect(listed).toEqual(ids.toReversed());
  const [id = ''] = ids;
  expect(Buffer.from(await (await openai.files.content(id)).arrayBuffer()).equals(FILE_BYTES)).toBe(true);
  expect((await openai.files.delete(id)).deleted).toBe(true);
  expect(await rejection(openai.files.retrieve(id))).toBeInstanceOf(NotFoundError);
});

test('openai keeps a conversation, continues it and counts its tokens', async () => {
  const { id } = await openai.conversations.create({ items: [{ role: 'user', content: 'hi' }] });
  const answer = await openai.responses.create({ model: 'm', input: 'and?', conversation: id });
  expect(answer.status).toBe('completed');
  expect((await openai.conversations.items.list(id)).data).toEqual([]);
  await openai.conversations.items.create(id, { items: [{ role: 'user', content: 'more' }] });
  expect((await openai.responses.inputTokens.count({ model: 'm', input: 'hi', conversation: id })).input_tokens).toBe(
    7,
  );
  await openai.conversations.delete(id);
  expect(await rejection(openai.conversations.retrieve(id))).toBeInstanceOf(NotFoundError);
});

test('anthropic uploads, lists, downloads and deletes files', async () => {
  const { files } = claude.beta;
  const betas = ['files-api-2025-04-14'];
  const ids: string[] = [];
  for (const name of ['a.txt', 'b.txt', 'c.txt']) {
    ids.push((await files.upload({ file: await toFile(Buffer.from('hello'), name), betas })).id);
  }
  const listed: string[] = [];
  for await (const { id } of files.list({ limit: 2, betas })) listed.push(id);
  expect(listed).toEqual(ids.toReversed());
  const [id = ''] = ids;
  expect(Buffer.from(await (await files.download(id, { betas })).arrayBuffer()).equals(FILE_BYTES)).toBe(true);
  await files.delete(id, { betas });
  expect(await rejection(files.retrieveMetadata(id, { betas }))).toBeInstanceOf(Anthropic.NotFoundError);
});
