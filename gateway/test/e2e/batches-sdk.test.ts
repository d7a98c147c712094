/** Tests batches through the official SDKs, as their documentation uses them. */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI, { toFile } from 'openai';
import type { RunningGateway } from '../harness/start-gateway.ts';
import { type BatchUpstream, startBatchUpstream } from '../http-contract/batch-upstream.ts';
import { anthropic, openAi, rejection, startStateGateway } from './sdk-rig.ts';

let upstream: BatchUpstream;
let gateway: RunningGateway;
let openai: OpenAI;
let claude: Anthropic;

beforeAll(async () => {
  upstream = startBatchUpstream();
  gateway = await startStateGateway(upstream.url);
  openai = openAi({ gateway });
  claude = anthropic({ gateway });
}, 60_000);
afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

test('openai creates a batch, waits for it, lists it and reads its output', async () => {
  const body = { model: 'm', messages: [{ role: 'user', content: 'hi' }] };
  const line = JSON.stringify({ custom_id: 'a', method: 'POST', url: '/v1/chat/completions', body });
  const file = await openai.files.create({ file: await toFile(Buffer.from(line), 'in.jsonl'), purpose: 'batch' });
  const created = await Promise.all(
    [1, 2, 3].map(() =>
      openai.batches.create({
        input_file_id: file.id,
        endpoint: '/v1/chat/completions',
        completion_window: '24h',
      }),
    ),
  );
  const ids: string[] = [];
  for await (const { id } of openai.batches.list({ limit: 2 })) ids.push(id);
  expect(ids.sort()).toEqual(created.map(({ id }) => id).sort());
  const [{ id } = { id: '' }, other] = created;
  expect((await openai.batches.cancel(other?.id ?? '')).id).toBe(other?.id ?? '');
  const choices = [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }];
  const usage = { prompt_tokens: 11, completion_tokens: 3, total_tokens: 14 };
  const response = { status_code: 200, body: { object: 'chat.completion', model: 'm', choices, usage } };
  upstream.end(id, { status: 'completed', output: [{ custom_id: 'a', response, error: null }] });
  let batch = await openai.batches.retrieve(id);
  while (batch.status !== 'completed') batch = await openai.batches.retrieve(id);
  const output = await (await openai.files.content(batch.output_file_id ?? '')).text();
  expect(JSON.parse(output).custom_id).toBe('a');
  const wrong = await openai.files.create({
    file: await toFile(Buffer.from(line.replace('"m"', '"other"')), 'in.jsonl'),
    purpose: 'batch',
  });
  const refused = await rejection(
    openai.batches.create({ input_file_id: wrong.id, endpoint: '/v1/chat/completions', completion_window: '24h' }),
  );
  expect(refused).toBeInstanceOf(OpenAI.BadRequestError);
  expect(String(refused)).toContain('line 1 (custom_id "a")');
});

test('anthropic creates a batch, waits for it, lists it, reads its results and deletes it', async () => {
  const { batches } = claude.messages;
  const params = { model: 'c', max_tokens: 10, messages: [{ role: 'user' as const, content: 'hi' }] };
  const { id } = await batches.create({ requests: [{ custom_id: 'a', params }] });
  const listed: string[] = [];
  for await (const one of batches.list({ limit: 1 })) listed.push(one.id);
  expect(listed).toEqual([id]);
  const message = {
    ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'c', stop_reason: 'end_turn', stop_sequence: null },
    content: [{ type: 'text', text: 'Hello' }],
    usage: { input_tokens: 11, output_tokens: 3, service_tier: 'batch' },
  };
  upstream.end(id, { status: 'ended', output: [{ custom_id: 'a', result: { type: 'succeeded', message } }] });
  while ((await batches.retrieve(id)).processing_status !== 'ended') await new Promise(setImmediate);
  const results: string[] = [];
  for await (const { custom_id, result } of await batches.results(id)) results.push(`${custom_id} ${result.type}`);
  expect(results).toEqual(['a succeeded']);
  await batches.delete(id);
  expect(await rejection(batches.retrieve(id))).toBeInstanceOf(Anthropic.NotFoundError);
});
