/** Tests that each snippet is complete and well-formed in its own language, whatever the model's name. */
import { describe, expect, test } from 'bun:test';
import { rootUrl, shellText, versionUrl } from './snippet.ts';
import { SNIPPETS } from './snippets.ts';

const FILL = { url: 'https://gw.example/', model: 'gpt-5-mini', key: 'tg_secret' };
/** Names with the characters that end a string in each of the languages. */
const ODD = { ...FILL, model: `it's "odd" $(x)\\` };

function textOf(id: string, fill = FILL): string {
  const snippet = SNIPPETS.find((one) => one.id === id);
  if (snippet === undefined) throw new Error(`no snippet ${id}`);
  return snippet
    .parts(fill)
    .map(({ text }) => text)
    .join('\n');
}

describe('snippets', () => {
  test.each(SNIPPETS.map((snippet) => snippet.id))('%s holds address, model and key', (id) => {
    const text = textOf(id);
    expect(text).toContain('https://gw.example');
    expect(text).toContain(FILL.model);
    expect(text).toContain(FILL.key);
    expect(text).not.toContain('.example//');
    expect(text).not.toContain('/v1/v1');
  });

  test('clients of OpenAI’s formats get the versioned address, others the root', () => {
    for (const id of ['claude-code', 'gemini-cli', 'anthropic-ts', 'anthropic-python'])
      expect(textOf(id)).not.toContain('/v1');
    for (const id of ['codex', 'opencode', 'openai-ts', 'openai-python', 'ai-sdk', 'agents-sdk', 'langchain'])
      expect(textOf(id)).toContain('https://gw.example/v1');
  });

  test('ids are unique', () => {
    expect(new Set(SNIPPETS.map(({ id }) => id)).size).toBe(SNIPPETS.length);
  });

  test('the OpenCode file is valid JSON for any model name', () => {
    const file = SNIPPETS.find(({ id }) => id === 'opencode')?.parts(ODD)[0]?.text ?? '';
    expect(Object.keys(JSON.parse(file).provider.tollgate.models)).toEqual([ODD.model]);
  });

  test('the Codex file is valid TOML for any model name', () => {
    const file = SNIPPETS.find(({ id }) => id === 'codex')?.parts(ODD)[0]?.text ?? '';
    expect(Bun.TOML.parse(file)).toEqual({
      model: ODD.model,
      model_provider: 'tollgate',
      model_providers: {
        tollgate: {
          name: 'Tollgate',
          base_url: 'https://gw.example/v1',
          env_key: 'TOLLGATE_KEY',
        },
      },
    });
  });

  test.each(['openai-ts', 'anthropic-ts', 'ai-sdk', 'agents-sdk'])('%s is a valid program for any model name', (id) => {
    const program = SNIPPETS.find((one) => one.id === id)?.parts(ODD)[1]?.text ?? '';
    const compiled = new Bun.Transpiler({ loader: 'js' }).transformSync(program);
    expect(compiled).toContain('TOLLGATE_KEY');
  });

  test('quotes texts for a shell', async () => {
    const shell = Bun.spawn(['sh', '-c', `printf %s ${shellText(ODD.model)}`]);
    expect(await new Response(shell.stdout).text()).toBe(ODD.model);
    expect(shellText('https://gw.example/v1')).toBe('https://gw.example/v1');
  });

  test('curl sends valid JSON for any model name', async () => {
    const command = textOf('curl', ODD).replace(/^curl /, 'printf "%s\\n" ');
    const shell = Bun.spawn(['sh', '-c', command]);
    const words = (await new Response(shell.stdout).text()).trim().split('\n');
    expect(JSON.parse(words.at(-1) ?? '').model).toBe(ODD.model);
    expect(words[2]).toBe('Authorization: Bearer tg_secret');
  });
});

test('accepts an address with or without /v1 and trailing slash', () => {
  for (const url of ['http://a', 'http://a/', 'http://a/v1', 'http://a/v1/']) {
    expect(rootUrl(url)).toBe('http://a');
    expect(versionUrl(url)).toBe('http://a/v1');
  }
});
