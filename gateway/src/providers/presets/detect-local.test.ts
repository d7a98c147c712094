/** Tests that each local server is recognized by its own answers, at its usual port and at those of others. */
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

const listOf = (owned_by?: string) => ({
  object: 'list',
  data: [{ id: 'tide-1', owned_by }, { id: 7 }, { id: 'bad\nname' }],
});

/** The answers of each server, including its imitations of others. */
const SERVERS: ReadonlyArray<readonly [preset: string, usual: string, answers: Readonly<Record<string, unknown>>]> = [
  ['ollama', 'http://127.0.0.1:11434', { '/api/version': { version: '0.14.0' }, '/v1/models': listOf('library') }],
  ['vllm', 'http://127.0.0.1:8000', { '/version': { version: '0.12.0' }, '/v1/models': listOf('vllm') }],
  [
    'sglang',
    'http://127.0.0.1:30000',
    { '/get_model_info': { model_path: 'harbor/tide' }, '/v1/models': listOf('sglang') },
  ],
  [
    'llama-cpp',
    'http://127.0.0.1:8080',
    { '/props': { default_generation_settings: {} }, '/v1/models': listOf('llamacpp') },
  ],
  [
    'localai',
    'http://127.0.0.1:8080',
    {
      '/.well-known/localai.json': { version: 'v4.1.0', endpoints: { models: '/v1/models' } },
      '/api/version': { version: '0.9.0' },
      '/version': { version: 'v4.1.0' },
      '/v1/models': listOf(),
    },
  ],
  [
    'localai',
    'http://127.0.0.1:8080',
    {
      '/system': { backends: ['llama-cpp'], loaded_models: [] },
      '/version': { version: 'v2' },
      '/v1/models': listOf(),
    },
  ],
  ['lmstudio', 'http://127.0.0.1:1234', { '/api/v0/models': { data: [] }, '/v1/models': listOf('organization_owner') }],
];

function at(origin: string, answers: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(answers).map(([path, answer]) => [origin + path, answer]));
}

test.each(SERVERS)('%s is found at its port and at every other', async (preset, usual, answers) => {
  const origins = [...new Set(LOCAL_SERVERS.map(({ baseUrl }) => new URL(baseUrl).origin))];
  expect(origins).toContain(usual);
  for (const origin of origins) {
    const { ask, asked } = machineWith(at(origin, answers));
    expect(await detectLocalServers(ask)).toEqual([
      {
        preset,
        title: LOCAL_SERVERS.find(({ name }) => name === preset)?.title ?? '',
        baseUrl: `${origin}/v1`,
        isUsual: origin === usual,
        models: ['tide-1'],
      },
    ]);
    for (const url of asked) expect(new URL(url).hostname).toBe('127.0.0.1');
  }
});

test('several servers are found at once', async () => {
  const [[, first, one], [, second, other]] = [SERVERS[0] ?? [], SERVERS[1] ?? []];
  const { ask } = machineWith({ ...at(first ?? '', one ?? {}), ...at(second ?? '', other ?? {}) });
  expect((await detectLocalServers(ask)).map(({ preset }) => preset)).toEqual(['ollama', 'vllm']);
});

test('every local preset has a sign, and an unknown or silent service is not found', async () => {
  expect(new Set(SERVERS.map(([preset]) => preset))).toEqual(new Set(LOCAL_SERVERS.map(({ name }) => name)));
  const { ask } = machineWith({
    // A gateway or another service of OpenAI's format, with a version.
    'http://127.0.0.1:8000/version': { version: '1' },
    'http://127.0.0.1:8000/v1/models': listOf('tollgate'),
    'http://127.0.0.1:8080/props': { default_generation_settings: [] },
    'http://127.0.0.1:8080/v1/models': [1],
  });
  expect(await detectLocalServers(ask)).toEqual([]);
  expect(await detectLocalServers(() => Promise.reject(new Error('refused')))).toEqual([]);
});
