/** Tests which targets may answer with hidden reasoning, according to the catalog, the provider and the name. */
import { expect, test } from 'bun:test';
import { findModel } from '../catalog/catalog.ts';
import type { ServedTarget } from '../config/served-models.ts';
import { findPreset, NO_QUIRKS } from '../providers/presets.ts';
import { hiddenReasoningOf } from './route.ts';
import { reasons, traitsOf } from './upstream-traits.ts';

/** A target of a preset, or (null) of an unknown provider. */
function targetOf(presetName: string | null, model: string): ServedTarget {
  const preset = presetName === null ? undefined : findPreset(presetName);
  const catalogProvider = preset?.catalogProvider ?? null;
  const kind = preset?.kind ?? 'openai-compatible';
  return {
    provider: {
      name: 'lab',
      kind,
      protocols: kind === 'anthropic' ? ['messages'] : ['chat'],
      baseUrl: preset?.baseUrl ?? 'http://127.0.0.1:1/v1',
      credential: null,
      timeouts: { connectMs: 1, firstByteMs: 1, firstBytePlainMs: 1, idleMs: 1, totalMs: 1 },
      catalogProvider,
      quirks: preset?.quirks ?? NO_QUIRKS,
      provenLimits: [],
    },
    model,
    timeouts: null,
    catalog: catalogProvider === null ? null : { provider: catalogProvider, model },
  };
}

test.each([
  ['openai', 'gpt-5-mini', true, 'always'],
  ['openai', 'gpt-4o-mini', true, 'never'],
  ['openai', 'gpt-5.9-of-tomorrow', false, 'always'],
  ['openai', 'gpt-4-of-yesterday', false, 'never'],
  ['anthropic', 'claude-sonnet-4-6', true, 'asked'],
  ['anthropic', 'claude-of-tomorrow', false, 'never'],
  ['gemini', 'gemini-2.5-pro', true, 'always'],
  ['deepseek', 'deepseek-v4-pro', true, 'never'],
  [null, 'gpt-5-mini', false, 'never'],
] as const)('%s %s', (preset, model, isKnown, hidden) => {
  const target = targetOf(preset, model);
  const facts = target.catalog === null ? null : findModel(target.catalog.provider, model);
  expect(facts !== null).toBe(isKnown);
  expect(hiddenReasoningOf(target, reasons(facts, {}), traitsOf(target, facts))).toBe(hidden);
});

test('the demo hides nothing', () => {
  const target: ServedTarget = {
    provider: { name: 'demo', kind: 'demo', protocols: ['chat', 'messages'] },
    model: 'demo',
    timeouts: null,
    catalog: null,
  };
  expect(hiddenReasoningOf(target, null, traitsOf(target, null))).toBe('never');
});
