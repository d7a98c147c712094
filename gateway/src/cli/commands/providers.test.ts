/** Tests what `tollgate providers detect` prints. */
import { expect, test } from 'bun:test';
import { Command } from 'commander';
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
