/** Tests that each local server is told from the others by its own path. */
import { expect, test } from 'bun:test';
import { detectLocalServers } from './detect-local.ts';
import { LOCAL_SERVERS } from './local.ts';

/** A machine with these answers, by address. */
function machineWith(answers: Readonly<Record<string, unknown>>) {
  const asked: string[] = [];
  const ask = async (url: string, init: RequestInit) => {
    expect(init.redirect).toBe('manual');
    asked.push(url);
    return url in answers ? Response.json(answers[url]) : new Response('Not Found', { status: 404 });
  };
  return { ask, asked };
}

const LIST = { object: 'list', data: [{ id: 'tide-1' }, { id: 7 }, { id: 'bad\nname' }] };

test.each([
  ['ollama', 'http://127.0.0.1:11434', '/api/version', { version: '0.14.0' }],
  ['vllm', 'http://127.0.0.1:8000', '/version', { version: '0.12.0' }],
  ['sglang', 'http://127.0.0.1:30000', '/get_model_info', { model_path: 'harbor/tide' }],
  ['llama-cpp', 'http://127.0.0.1:8080', '/props', { default_generation_settings: {} }],
  ['localai', 'http://127.0.0.1:8080', '/version', { version: 'v3' }],
  ['lmstudio', 'http://127.0.0.1:1234', '/api/v0/models', { data: [] }],
])('%s', async (preset, origin, path, answer) => {
  const { ask, asked } = machineWith({ [origin + path]: answer, [`${origin}/v1/models`]: LIST });
  expect(await detectLocalServers(ask)).toMatchObject([{ preset, baseUrl: `${origin}/v1`, models: ['tide-1'] }]);
  for (const url of asked) expect(new URL(url).hostname).toBe('127.0.0.1');
});

test('every local preset has a sign, and a strange or silent service is none', async () => {
  const { ask, asked } = machineWith({
    'http://127.0.0.1:8000/version': [1],
    'http://127.0.0.1:8080/props': { error: 'no' },
  });
  expect(await detectLocalServers(ask)).toEqual([]);
  for (const { baseUrl } of LOCAL_SERVERS)
    expect(asked.some((url) => url.startsWith(new URL(baseUrl).origin))).toBe(true);
  expect(await detectLocalServers(() => Promise.reject(new Error('refused')))).toEqual([]);
});
