/**
 * Tests that every generated conversation and every recorded request of the other formats becomes a request that Google
 * accepts, and that the judge of that sees what it should.
 */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { GenerationRequest } from '../../../src/generation/request.ts';
import { startTranslationNotes } from '../../../src/protocols/request/translation-notes.ts';
import { CAPABLE } from '../../../src/protocols/testing/capable-upstream.ts';
import type { GeminiTraits } from '../../../src/protocols/upstream-traits.ts';
import { SEED } from '../../harness/exhaustive.ts';
import { randomRequest } from '../translation/conversations/random-requests.ts';
import { exchangeSets, orRefusal, readRequest } from '../translation/rig.ts';
import type { Json } from '../wire-text.ts';
import { judgeGeminiRequest } from './gemini-legality.ts';
import { GEMINI } from './rig.ts';

const RUNS = process.env.TOLLGATE_EXHAUSTIVE === '1' ? 10_000 : 60;
const TARGETS = [
  ['gemini-2.5-flash', 'ai_studio'],
  ['gemini-2.5-pro', 'vertex'],
  ['gemini-3-flash-preview', 'ai_studio'],
  ['gemini-3.1-pro-preview', 'vertex'],
] as const;

function faultsOf(request: GenerationRequest, model: string, platform: GeminiTraits['platform']): string[] {
  const traits = { ...CAPABLE, model, gemini: { platform } };
  const { json } = GEMINI.renderRequest(request, traits, startTranslationNotes(false));
  const judged = { signs: model.startsWith('gemini-3'), vertex: platform === 'vertex' };
  return judgeGeminiRequest(JSON.parse(json), judged);
}

test.each(TARGETS)(
  'random conversations are legal for %s at %s',
  (model, platform) => {
    fc.assert(
      fc.property(randomRequest, (request) => {
        expect(faultsOf(request, model, platform)).toEqual([]);
      }),
      { numRuns: RUNS, seed: SEED },
    );
  },
  120_000,
);

describe.each(exchangeSets())('the recorded requests of $name', ({ name, exchanges }) => {
  test('are legal for Gemini, or refused with a reason', () => {
    let written = 0;
    for (const { id, format, request, status } of exchanges) {
      if (request === null || status !== 200) continue;
      const read = orRefusal(() => readRequest(format, request).request);
      if ('refused' in read) continue;
      for (const [model, platform] of TARGETS) {
        const faults = orRefusal(() => faultsOf(read, model, platform));
        if ('refused' in faults) continue;
        expect([id, model, faults]).toEqual([id, model, []]);
        written += 1;
      }
    }
    expect(written).toBeGreaterThanOrEqual({ corpus: 400, recordings: 1_500 }[name]);
  });
});

describe('the judge', () => {
  const call = { functionCall: { id: 'a', name: 'look', args: {} }, thoughtSignature: 'S' };
  const result = { functionResponse: { id: 'a', name: 'look', response: { output: '' } } };
  const user = (...parts: readonly Json[]) => ({ role: 'user', parts });
  const model = (...parts: readonly Json[]) => ({ role: 'model', parts });
  const asked = user({ text: 'hi' });
  const GOOD: Json = { contents: [asked, model(call), user(result, { text: 'and?' })] };
  const STRICT = { signs: true, vertex: false };
  const turns = (...contents: readonly Json[]): Json => ({ contents });
  const schema = (parametersJsonSchema: Json): Json => ({
    tools: [{ functionDeclarations: [{ name: 'look', parametersJsonSchema }] }],
  });

  test('finds no fault in a legal request', () => {
    expect(judgeGeminiRequest(GOOD, STRICT)).toEqual([]);
  });

  test.each<readonly [string, Json]>([
    ['an unknown member model', { model: 'm' }],
    ['no contents', turns()],
    ['the first content is not the user’s', turns(model({ text: 'hi' }))],
    ['two contents of the user', turns(asked, asked)],
    ['a content without parts', turns(user())],
    ['an empty text', turns(user({ text: '' }))],
    ['a part of 0 kinds in a content of the user', turns(user(call))],
    ['calls without their results', turns(asked, model(call))],
    ['calls without their results', turns(asked, model(call, call), user(result))],
    ['results without their calls', turns(asked, model({ text: 'x' }), user(result))],
    ['a part before a result', turns(asked, model(call), user({ text: 'late' }, result))],
    ['an unsigned step', turns(asked, model({ functionCall: call.functionCall }), user(result))],
    ['no id', turns(asked, model({ ...call, functionCall: { name: 'look', args: {} } }), user(result))],
    [
      'arguments or a result that are no object',
      turns(asked, model({ ...call, functionCall: { id: 'a', name: 'look' } }), user(result)),
    ],
    [
      'a $ref in a result',
      turns(
        asked,
        model(call),
        user({ functionResponse: { ...result.functionResponse, response: { output: { $ref: '#/a' } } } }),
      ),
    ],
    ['the tool name 2nd', { tools: [{ functionDeclarations: [{ name: '2nd' }] }] }],
    ['the keyword pattern', schema({ properties: { a: { type: 'string', pattern: 'x' } } })],
    ['description beside $ref', schema({ properties: { a: { $ref: '#/$defs/b', description: 'x' } } })],
    [
      'names without ANY',
      { ...schema({}), toolConfig: { functionCallingConfig: { mode: 'AUTO', allowedFunctionNames: ['look'] } } },
    ],
    ['a choice without functions', { toolConfig: { functionCallingConfig: { mode: 'ANY' } } }],
    ['temperature 3', { generationConfig: { temperature: 3 } }],
    ['a schema alone', { generationConfig: { responseJsonSchema: {} } }],
    ['budget and level', { generationConfig: { thinkingConfig: { thinkingBudget: 1, thinkingLevel: 'low' } } }],
    ['systemInstruction', { systemInstruction: { parts: [] } }],
  ])('finds %s', (fault, changes) => {
    expect(judgeGeminiRequest({ ...GOOD, ...changes }, STRICT)).toContain(fault);
  });
});
