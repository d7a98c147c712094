/**
 * Tests that an Ollama is detected where one responds, that nothing else is mistaken for one, and that the probe ends
 * in time.
 */
import { afterEach, describe, expect, test } from 'bun:test';
import { createServer, type Server } from 'node:net';
import { createGuardedFetch } from '../upstream/guarded-fetch.ts';
import { detectOllama, withOllama } from './discover-providers.ts';
import { loadConfig } from './load-config.ts';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

function serve(answer: () => Response): string {
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: answer });
  closers.push(() => server.stop(true));
  return `http://127.0.0.1:${server.port}`;
}

const never = new AbortController().signal;
const request = createGuardedFetch(() => true);

describe('detectOllama', () => {
  test('lists the models of an Ollama', async () => {
    const tags = { models: [{ name: 'qwen3:8b', size: 1 }, { name: 'llama3.3:latest' }] };
    expect(
      await detectOllama(
        never,
        request,
        serve(() => Response.json(tags)),
      ),
    ).toEqual(['qwen3:8b', 'llama3.3:latest']);
  });

  test('skips invalid model names', async () => {
    const tags = {
      models: [{ name: 'ok' }, { name: 7 }, {}, null, { name: 'a\nb' }, { name: '' }, { name: 'x'.repeat(257) }],
    };
    expect(
      await detectOllama(
        never,
        request,
        serve(() => Response.json(tags)),
      ),
    ).toEqual(['ok']);
  });

  test.each([
    ['another status', () => new Response('{"models":[]}', { status: 404 })],
    ['no JSON', () => new Response('<html>')],
    ['other JSON', () => Response.json({ models: { name: 'x' } })],
    ['null', () => Response.json(null)],
    ['a redirect', () => Response.redirect('/elsewhere')],
    ['more than 1 MiB', () => new Response(`{"models":[${' '.repeat(1024 * 1024)}]}`)],
  ])('%s is not an Ollama', async (_name, answer) => {
    expect(await detectOllama(never, request, serve(answer))).toBeNull();
  });

  test('a port without a listener is not an Ollama', async () => {
    const origin = serve(() => new Response());
    for (const close of closers.splice(0)) await close();
    expect(await detectOllama(never, request, origin)).toBeNull();
  });

  test('gives up on a silent port within its limit', async () => {
    const silent: Server = createServer(() => {});
    closers.push(() => silent.close());
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const address = silent.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const begun = performance.now();
    expect(await detectOllama(never, request, `http://127.0.0.1:${port}`)).toBeNull();
    expect(performance.now() - begun).toBeWithin(250, 10_000);
  });

  test('gives up at once when the start is aborted', async () => {
    expect(
      await detectOllama(
        AbortSignal.abort(),
        request,
        serve(() => Response.json({ models: [] })),
      ),
    ).toBeNull();
  });
});

describe('withOllama', () => {
  function load(environment: { readonly [name: string]: string }) {
    const { config } = loadConfig({ environment, cwd: '/nonexistent' });
    if (config === null) throw new Error('expected a configuration');
    return config;
  }

  test('replaces the built-in demo', () => {
    const config = withOllama(load({}), ['qwen3:8b']);
    expect([...config.providers.keys()]).toEqual(['ollama']);
    expect(config.providers.get('ollama')).toMatchObject({
      baseUrl: 'http://127.0.0.1:11434/v1',
      credentials: { pool: [{ secrets: {} }] },
    });
    expect(config.notes).toEqual([
      'Found Ollama with one model: it answers as provider ollama at http://127.0.0.1:11434/v1.',
    ]);
  });

  test('is added to providers from the environment', () => {
    const config = withOllama(load({ OPENAI_API_KEY: 'x' }), ['a', 'b']);
    expect([...config.providers.keys()]).toEqual(['openai', 'ollama']);
    expect(config.notes.at(-1)).toStartWith('Found Ollama with 2 models:');
  });

  test('changes nothing if the file names the providers, or Ollama has no model', () => {
    const fromFile = { ...load({}), providersFrom: 'file' as const };
    expect(withOllama(fromFile, ['a'])).toBe(fromFile);
    const config = load({});
    expect(withOllama(config, [])).toBe(config);
  });
});
