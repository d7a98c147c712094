/** Checks that snippets say what is meant, also to a real shell. */
import { describe, expect, test } from 'bun:test';
import { CLIENTS, renderSnippet } from './snippets.ts';

const fill = { url: 'https://gw.example/', key: 'tg_secret', model: 'demo' };

describe('the first snippets', () => {
  test('each names the address without a double slash, the key and the model', () => {
    for (const [client] of CLIENTS) {
      const text = renderSnippet(client, fill);
      expect(text).toContain('https://gw.example');
      expect(text).not.toContain('example//');
      expect(text).toContain('tg_secret');
      expect(text).toContain('demo');
    }
  });
  test('a shell gets exactly the model that is meant, also one with a quote', () => {
    const odd = "it's/$HOME`x`";
    const run = Bun.spawnSync([
      'sh',
      '-c',
      `curl() { printf '%s\\n' "$@"; }\n${renderSnippet('curl', { ...fill, model: odd })}`,
    ]);
    const args = run.stdout.toString().trimEnd().split('\n');
    expect(args[0]).toBe('https://gw.example/v1/chat/completions');
    expect(args[2]).toBe('authorization: Bearer tg_secret');
    expect(JSON.parse(args.at(-1) ?? '')).toMatchObject({ model: odd });
  });
});
