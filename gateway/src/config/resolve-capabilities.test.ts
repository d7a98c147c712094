/** Tests the capabilities of models: the allowed `capabilities` of a model, and the messages for the others. */
import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { renderConfigProblem } from './file/config-problem.ts';
import { loadConfig } from './load-config.ts';

function load(capabilities: string) {
  const cwd = mkdtempSync(join(tmpdir(), 'tollgate-capabilities-'));
  try {
    const text = `providers: { d: { kind: demo } }\nmodels: { m: { targets: [{ provider: d }], capabilities: ${capabilities} } }\n`;
    writeFileSync(join(cwd, 'f.yaml'), text);
    return loadConfig({ file: 'f.yaml', environment: {}, cwd });
  } finally {
    rmSync(cwd, { recursive: true });
  }
}

test('words and lists become capabilities', () => {
  const { config } = load('{ reasoning: true, reasoning_effort: [low, high], image: false }');
  expect(config?.models?.get('m')?.capabilities).toEqual({
    reasoning: true,
    reasoning_effort: ['low', 'high'],
    image: false,
  });
});

test.each([
  ['{ reasoning: maybe }', "capabilities.reasoning: found 'maybe', expected one of true, false"],
  ['{ reasoning_effort: high }', 'capabilities.reasoning_effort: found a text, expected a list'],
  ['{ reasoning_effort: [much] }', "capabilities.reasoning_effort[0]: found 'much', expected one of none, minimal"],
  ['{ vision: true }', "capabilities.vision: found the unknown member 'vision'"],
  ['{ reasoning: false, reasoning_effort: [none, low] }', 'reasoning_effort: found low with reasoning: false'],
])('%s is refused', (capabilities, problem) => {
  const { problems } = load(capabilities);
  expect(problems.map(renderConfigProblem)).toEqual([expect.stringContaining(problem)]);
});
