/** Tests naming a model's family, and the table's shape. */
import { expect, test } from 'bun:test';
import { FRAMES } from './measure-request.ts';
import { TEXT_FEATURES } from './text-alphabet.ts';
import { familyOf, TOKEN_FAMILIES, TOKEN_RATIOS, type TokenFamily } from './token-families.ts';

const MODELS: { readonly [family in TokenFamily]: readonly string[] } = {
  gpt: [
    'gpt-4o',
    'gpt-5.1-codex-mini',
    'o1-mini',
    'openai/o3',
    'o4-mini-2025-04-16',
    'chatgpt-4o-latest',
    'openai-gpt-4.1',
  ],
  gpt_oss: ['gpt-oss:120b', 'openai.gpt-oss-120b-1:0', 'openai/gpt-oss-20b'],
  claude_3: ['claude-3-5-haiku-latest', 'us.anthropic.claude-3-7-sonnet-20250219-v1:0', 'anthropic.claude-v2'],
  claude: ['claude-sonnet-4-5', 'claude-opus-4-1-20250805', 'anthropic/claude-sonnet-4.6', 'claude-sonnet-4-20250514'],
  claude_5: ['claude-opus-4-7', 'anthropic/claude-opus-4.8', 'claude-sonnet-5', 'claude-haiku-5-5', 'claude-fable-5-1'],
  gemini: ['gemini-2.5-flash', 'google/gemini-3.6-flash', 'google.gemma-3-27b-it'],
  mistral: [
    'mistral-small-latest',
    'mistralai/Mixtral-8x7B-Instruct-v0.1',
    'pixtral-12b',
    'ministral-3b-latest',
    'devstral',
  ],
  llama: ['llama3-8b-8192', 'meta-llama/Llama-4-Scout-17B-16E-Instruct'],
  qwen: ['qwen3:0.6b', 'Qwen/Qwen2.5-VL-72B-Instruct', 'qwq-32b'],
  deepseek: ['deepseek-chat', 'us.deepseek.r1-v1:0', 'deepseek-ai/DeepSeek-R1'],
  glm: ['glm-4.7', 'zai/GLM-5.2'],
  kimi: ['Kimi-K2.5', 'moonshot.kimi-k2-thinking'],
  grok: ['grok-4.3', 'x-ai/grok-4'],
  other: ['', 'amazon.nova-micro-v1:0', 'minimax-m2', 'sonar-pro', 'foo3', 'solo1-mini'],
};

test.each(TOKEN_FAMILIES)('the models of %s are known by their names', (family) => {
  for (const model of MODELS[family]) expect([model, familyOf(model)]).toEqual([model, family]);
});

test.each(TOKEN_FAMILIES)('%s has a ratio ≥ 0 for each feature and frame', (family) => {
  const { text, frames } = TOKEN_RATIOS[family];
  expect([text.length, frames.length]).toEqual([TEXT_FEATURES.length, FRAMES.length]);
  expect(Math.min(...text, ...frames)).toBeGreaterThanOrEqual(0);
});

test.each(TOKEN_FAMILIES)('%s counts no script as free', (family) => {
  for (const feature of ['cyrillic', 'semitic', 'indic', 'kana', 'hangul', 'han', 'astral'] as const) {
    expect(TOKEN_RATIOS[family].text[TEXT_FEATURES.indexOf(feature)]).toBeGreaterThan(0.3);
  }
});
