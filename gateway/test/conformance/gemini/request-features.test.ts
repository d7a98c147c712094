/** Tests that each feature has the fate at Gemini that the table in the documentation states. */
import { expect, test } from 'bun:test';
import { FEATURES, type Feature, type GenerationRequest } from '../../../src/generation/request.ts';
import { requestOf } from '../../../src/generation/testing/request-of.ts';
import { RENDERED_FEATURES } from '../../../src/protocols/gemini/upstream/render-request.ts';
import { refusal } from '../../../src/protocols/messages/testing/request-rig.ts';
import { readFate, startTranslationNotes } from '../../../src/protocols/request/translation-notes.ts';
import { CAPABLE } from '../../../src/protocols/testing/capable-upstream.ts';
import { GEMINI } from './rig.ts';

const TOOL = {
  kind: 'function',
  name: 't',
  description: null,
  parameters: null,
  strict: null,
  cache_mark: null,
} as const;
const CONFIG = 'generationConfig';

/** A request with each feature, and the member that shows it. */
const SAMPLES: { readonly [feature in Feature]: readonly [changes: Partial<GenerationRequest>, member: string] } = {
  tools: [{ tools: [TOOL] }, 'tools'],
  tool_choice: [{ tools: [TOOL], tool_choice: { kind: 'required' } }, 'toolConfig'],
  parallel_tool_calls: [{ tools: [TOOL], parallel_tool_calls: false }, ''],
  output_limit: [{ outputTokensMax: 5 }, CONFIG],
  stop: [{ stop: ['x'] }, CONFIG],
  temperature: [{ temperature: 0.5 }, CONFIG],
  top_p: [{ top_p: 0.5 }, CONFIG],
  top_k: [{ top_k: 5 }, CONFIG],
  frequency_penalty: [{ frequency_penalty: 1 }, CONFIG],
  presence_penalty: [{ presence_penalty: 1 }, CONFIG],
  seed: [{ seed: 1 }, CONFIG],
  reasoning: [{ reasoning: { mode: null, budgetTokens: null, effort: 'low', display: null } }, CONFIG],
  output_format: [{ output_format: { kind: 'json' } }, CONFIG],
  verbosity: [{ verbosity: 'high' }, ''],
  end_user: [{ end_user: 'u' }, ''],
  service_tier: [{ service_tier: 'flex' }, 'serviceTier'],
  cache_marks: [{ cache_mark: { ttlMinutes: null } }, ''],
  web_search: [{ web_search: { context_size: null, location: null } }, 'tools'],
  logprobs: [{ logprobs: { top: 2 } }, CONFIG],
};

function render(changes: Partial<GenerationRequest>, strict = false) {
  const notes = startTranslationNotes(strict);
  const { json } = GEMINI.renderRequest(requestOf(changes), { ...CAPABLE, model: 'gemini-3-pro' }, notes);
  return { body: JSON.parse(json), dropped: notes.dropped };
}

test.each(FEATURES)('%s has the fate that the table says', (feature) => {
  const [sample, member] = SAMPLES[feature];
  const changes = { ...sample, named: { [feature]: `my_${feature}` } };
  const { fate } = readFate(RENDERED_FEATURES[feature]);
  const { body, dropped } = render(changes);
  expect(dropped).toEqual(fate === 'dropped' ? [`my_${feature}`] : []);
  if (fate === 'dropped') expect(refusal(() => render(changes, true))?.param).toBe(`my_${feature}`);
  else expect(Object.keys(body)).toContain(member);
});
