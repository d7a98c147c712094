/** Tests which targets may answer with hidden reasoning, according to the catalog, the provider and the name. */
import { expect, test } from 'bun:test';
import { findModel } from '../catalog/catalog.ts';
import { buildRemoteProvider } from '../config/resolve-providers.ts';
import { plainTarget } from '../config/resolve-routing.ts';
import { type ServedTarget, withCatalog } from '../config/served-models.ts';
import { demo, localProvider } from '../providers/kinds/demo.ts';
import { openaiCompatible } from '../providers/kinds/openai-compatible.ts';
import { findPreset } from '../providers/presets/presets.ts';
import { singleCredential } from '../providers/provider.ts';
import { hiddenReasoningOf } from './route.ts';
import { reasons, traitsOf } from './upstream-traits.ts';

/** A target of a preset, or (null) of an unknown provider. */
function targetOf(presetName: string | null, model: string): ServedTarget {
  const preset = presetName === null ? undefined : findPreset(presetName);
  const url = preset?.baseUrl ?? 'http://127.0.0.1:1/v1';
  const provider = buildRemoteProvider({
    name: 'lab',
    kind: preset?.kind ?? openaiCompatible,
    preset: preset ?? null,
    address: { url, origin: new URL(url).origin },
    pool: singleCredential({}),
    timeouts: { connectMs: 1, firstByteMs: 1, firstBytePlainMs: 1, idleMs: 1, totalMs: 1 },
  });
  return withCatalog(plainTarget(provider, model));
}

test.each([
  ['openai', 'gpt-5-mini', true, 'always'],
  ['openai', 'gpt-4o-mini', true, 'never'],
  ['openai', 'gpt-5.9-of-tomorrow', false, 'always'],
  ['openai', 'gpt-4-of-yesterday', false, 'never'],
  ['anthropic', 'claude-sonnet-4-6', true, 'on_request'],
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

test('the demo has no hidden reasoning', () => {
  const target = plainTarget(localProvider('demo', demo), 'demo');
  expect(hiddenReasoningOf(target, null, traitsOf(target, null))).toBe('never');
});
