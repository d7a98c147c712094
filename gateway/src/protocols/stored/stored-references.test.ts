/** Tests stored-references.ts: what chat and messages requests name of the operator's account at a provider. */
import { describe, expect, test } from 'bun:test';
import { CLIENT_PROTOCOLS } from '../registry.ts';
import { CONTEXT, outlineOf } from '../testing/outline-of.ts';
import { STATE_MEMBERS } from './stored-references.ts';

const found = (name: 'chat' | 'messages' | 'responses', body: unknown) =>
  CLIENT_PROTOCOLS[name].checkRequest(outlineOf(body), CONTEXT).stored?.map(({ kind, path, id }) => [kind, path, id]);

const say = (...content: object[]) => ({ model: 'm', max_tokens: 5, messages: [{ role: 'user', content }] });

describe('a chat request', () => {
  test.each([
    [
      { ...say(), messages: [{ role: 'user', content: 'a' }], audio: { voice: { id: 'voice_1' } } },
      'voice',
      'audio.voice',
      'voice_1',
    ],
    [{ ...say(), messages: [{ role: 'assistant', audio: { id: 'audio_1' } }] }, 'audio', 'messages.0.audio', 'audio_1'],
    [say({ type: 'file', file: { file_id: 'file-1' } }), 'file', 'messages.0.content.0.file.file_id', 'file-1'],
    [say({ type: 'input_file', file_id: 'file-1' }), 'file', 'messages.0.content.0.file_id', 'file-1'],
    [say({ file_id: 'file-1' }), 'file', 'messages.0.content.0.file_id', 'file-1'],
    [
      say({ type: 'image_url', image_url: { url: 'gs://bucket/a.png' } }),
      'address',
      'messages.0.content.0.image_url.url',
      'gs://bucket/a.png',
    ],
    [
      say({ type: 'image_url', image_url: 's3://bucket/a.png' }),
      'address',
      'messages.0.content.0.image_url',
      's3://bucket/a.png',
    ],
    [
      say({ type: 'file', file: { file_data: 'a', url: 'https://generativelanguage.googleapis.com/v1beta/files/x' } }),
      'address',
      'messages.0.content.0.file.url',
      'https://generativelanguage.googleapis.com/v1beta/files/x',
    ],
    [
      say({ type: 'media', fileData: { fileUri: 'files/x' } }),
      'address',
      'messages.0.content.0.fileData.fileUri',
      'files/x',
    ],
    [
      say({ type: 'document', source: { s3Location: { uri: 'bucket/key' } } }),
      'address',
      'messages.0.content.0.source.s3Location',
      '{"uri":"bucket/key"}',
    ],
    [
      { ...say(), messages: [{ role: 'user', content: 'a' }], cached_content: 'cachedContents/1' },
      'cache',
      'cached_content',
      'cachedContents/1',
    ],
    [
      { ...say(), extra_body: { google: { cached_content: 'cachedContents/1' } } },
      'cache',
      'extra_body.google.cached_content',
      'cachedContents/1',
    ],
    [
      { ...say(), tools: [{ type: 'file_search', vector_store_ids: ['vs_1'] }] },
      'vector_store',
      'tools.0.vector_store_ids',
      'vs_1',
    ],
    [{ ...say(), container: 'cntr_1' }, 'container', 'container', 'cntr_1'],
  ] as ReadonlyArray<[object, string, string, string]>)('%j', (body, kind, path, id) => {
    expect(found('chat', body)).toEqual([[kind, path, id]]);
  });
});

describe('a messages request', () => {
  const file = { type: 'file', file_id: 'file_1' };
  test.each([
    [say({ type: 'image', source: file }), 'file', 'messages.0.content.0.source.file_id', 'file_1'],
    [say({ type: 'document', source: file }), 'file', 'messages.0.content.0.source.file_id', 'file_1'],
    [say({ type: 'container_upload', file_id: 'file_1' }), 'file', 'messages.0.content.0.file_id', 'file_1'],
    [
      say({ type: 'tool_result', tool_use_id: 't', content: [{ type: 'image', source: file }] }),
      'file',
      'messages.0.content.0.content.0.source.file_id',
      'file_1',
    ],
    [{ ...say({ type: 'text', text: 'a' }), container: 'container_1' }, 'container', 'container', 'container_1'],
    [
      { ...say({ type: 'text', text: 'a' }), container: { id: 'container_1' } },
      'container',
      'container',
      'container_1',
    ],
    [
      { ...say({ type: 'text', text: 'a' }), container: { skills: [{ type: 'custom', skill_id: 'skill_1' }] } },
      'skill',
      'container.skills.0.skill_id',
      'skill_1',
    ],
    [
      say({ type: 'image', source: { type: 'url', url: ' GS://bucket/a.png' } }),
      'address',
      'messages.0.content.0.source.url',
      ' GS://bucket/a.png',
    ],
  ] as ReadonlyArray<[object, string, string, string]>)('%j', (body, kind, path, id) => {
    expect(found('messages', body)).toEqual([[kind, path, id]]);
  });

  test('within the result of a tool, also if the name is written with an escape', () => {
    const body = JSON.stringify(
      say({
        type: 'tool_result',
        tool_use_id: 't',
        content: [{ type: 'image', source: { type: 'file', f: 'file_1' } }],
      }),
    ).replace('"f":', '"\\u0066ile_id":');
    expect(found('messages', body)).toEqual([['file', 'messages.0.content.0.content.0.source.file_id', 'file_1']]);
  });
});

test('texts, schemas and data of the caller hold no reference', () => {
  const schema = { type: 'object', properties: { file_id: { type: 'string' }, container_id: { type: 'string' } } };
  const chat = {
    ...say(
      { type: 'text', text: 'file_id', file_id: 'file-1' },
      { type: 'image_url', image_url: { url: 'https://a.example/gs://b.png' } },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
    ),
    tools: [{ type: 'function', function: { name: 'f', parameters: schema } }],
    metadata: { file_id: 'file-1' },
  };
  expect(found('chat', chat)).toBeUndefined();
  const messages = {
    ...say(
      { type: 'tool_use', id: 't', name: 'f', input: { file_id: 'file_1', container: 'c' } },
      { type: 'tool_result', tool_use_id: 't', content: 'the file_id is file_1' },
      { type: 'bash_code_execution_tool_result', tool_use_id: 't', content: { content: [{ file_id: 'file_1' }] } },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
    ),
    tools: [
      { name: 'f', input_schema: schema },
      { type: 'code_execution_20260120', name: 'code_execution' },
    ],
    container: { skills: [{ type: 'anthropic', skill_id: 'pptx' }] },
  };
  expect(found('messages', messages)).toBeUndefined();
});

test('every member of the table is found in a part of each format', () => {
  for (const [member, kind] of STATE_MEMBERS) {
    const part = { type: 'new', [member]: 'id_1' };
    const at = `content.0.${member}`;
    expect(found('chat', say(part))).toEqual([[kind, `messages.0.${at}`, 'id_1']]);
    expect(found('messages', say(part))).toEqual([[kind, `messages.0.${at}`, 'id_1']]);
    expect(found('responses', { model: 'm', input: [{ role: 'user', content: [part] }] })).toEqual([
      [kind, `input.0.${at}`, 'id_1'],
    ]);
  }
});
