/** Tests what `tollgate providers` prints, and which models it adds. */
import { expect, test } from 'bun:test';
import { Command } from 'commander';
import { serveControl } from '../../control/control-server.ts';
import { acquireDataLock } from '../../store/sqlite/database/data-folder.ts';
import { temporaryFolders } from '../../store/testing/temporary-folder.ts';
import { register } from './providers.ts';

async function detect(answers: Readonly<Record<string, unknown>>, flags: readonly string[] = []) {
  let out = '';
  const stdout = (text: string) => {
    out += text;
  };
  const ask = async (url: string | URL | Request) =>
    String(url) in answers ? Response.json(answers[String(url)]) : new Response('', { status: 404 });
  const program = new Command().exitOverride();
  register(program, { dataDir: '', stdout, stderr: () => undefined, nowMs: () => 0 }, ask);
  await program.parseAsync(['providers', 'detect', ...flags], { from: 'user' });
  return out;
}

const VLLM = {
  'http://127.0.0.1:8000/v1/models': { data: [{ id: 'tide-1', owned_by: 'vllm' }] },
};

test('servers that answer are listed with the lines that add them', async () => {
  const out = await detect(VLLM);
  expect(out).toMatch(/vLLM +http:\/\/127\.0\.0\.1:8000\/v1 +1\n/);
  expect(out).toContain('  vllm: { kind: openai-compatible, preset: vllm }\n');
  expect(JSON.parse(await detect(VLLM, ['--json']))).toMatchObject({ preset: 'vllm', models: ['tide-1'] });
});

test('a server at the usual port of another is named correctly, with its address', async () => {
  const [models] = Object.values(VLLM);
  const out = await detect({
    'http://127.0.0.1:8080/v1/models': models,
    'http://127.0.0.1:8080/version': { version: '0.12.0' },
  });
  expect(out).toContain('  vllm-8080: { kind: openai-compatible, preset: vllm, base_url: http://127.0.0.1:8080/v1 }\n');
  expect(out).not.toContain('LocalAI');
});

test('none is said so', async () => {
  expect(await detect({})).toBe('No server of models answers on the usual ports of 127.0.0.1.\n');
  expect(await detect({}, ['--json'])).toBe('');
});

const newFolder = temporaryFolders();

test('a model that the provider does not list is not added', async () => {
  const dataDir = newFolder();
  const lock = acquireDataLock(dataDir);
  if (lock === 'held') throw new Error('the folder was held');
  const created: unknown[] = [];
  let cut = false;
  const models = [{ model: 'qwen3-8b', served_as: [], retires: null }];
  const control = serveControl(dataDir, {
    run: async (name, given) => {
      if (name === 'routes.create') created.push(given);
      return { ok: true, result: name === 'providers.models' ? { provider: 'lab', message: '', models, cut } : null };
    },
  });
  const add = async (...names: string[]) => {
    const program = new Command().exitOverride();
    register(program, { dataDir, stdout: () => undefined, stderr: () => undefined, nowMs: () => 0 });
    await program.parseAsync(['providers', 'models', 'lab', '--add', ...names], { from: 'user' });
  };
  try {
    await expect(add('qwen3-8b', 'qwen3-8')).rejects.toThrow(
      'lab does not list the model "qwen3-8", so nothing was added',
    );
    expect(created).toEqual([]);
    await add('qwen3-8b');
    // A list that was cut may have it in its rest.
    cut = true;
    await add('qwen3-8');
    const route = (model: string) => ({ model, targets: [{ provider: 'lab', model }] });
    expect(created).toEqual([route('qwen3-8b'), route('qwen3-8')]);
  } finally {
    await control.stop();
    lock.release();
  }
});
