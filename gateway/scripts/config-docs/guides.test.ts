/** Tests that every configuration in the task guides loads. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { renderConfigProblem } from '../../src/config/file/config-problem.ts';
import { loadConfig } from '../../src/config/load-config.ts';

let cwd = '';
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'tollgate-guides-'));
});
afterAll(() => rmSync(cwd, { recursive: true }));

const FENCE = /```yaml\n(.*?)```/gs;

/** The files of a guide. A block without providers continues the first one, whose providers it gets. */
function filesOf(guide: string): readonly string[] {
  const page = readFileSync(new URL(`../../../docs/${guide}`, import.meta.url), 'utf8');
  const blocks = [...page.matchAll(FENCE)].map(([, block = '']) => block);
  const [providers = ''] = blocks[0]?.split(/^models:/m) ?? [];
  return blocks.map((block) => (block.includes('providers:') ? block : providers + block));
}

test.each([
  ['add-a-provider.md', 3],
  ['fallback.md', 6],
])('every configuration in %s loads', (guide, count) => {
  const files = filesOf(guide);
  expect(files).toHaveLength(count);
  for (const file of files) {
    writeFileSync(join(cwd, 'tollgate.yaml'), file);
    const names = [...file.matchAll(/\$\{(\w+)\}/g)].map(([, name = '']) => name);
    const environment = Object.fromEntries(names.map((name) => [name, `key-${name}`]));
    const { config, problems } = loadConfig({ environment, cwd });
    expect(problems.map(renderConfigProblem)).toEqual([]);
    expect(config?.providersFrom).toBe('file');
  }
});
