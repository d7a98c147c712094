/**
 * Tests that requests rendered for Bedrock's Converse validate against AWS's service model and Bedrock's other rules:
 * generated conversations for models of each vendor, and all recorded requests of both client formats.
 */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { GenerationRequest } from '../../../src/generation/request.ts';
import { CAPABLE } from '../../../src/protocols/testing/capable-upstream.ts';
import type { UpstreamTraits } from '../../../src/protocols/upstream-traits.ts';
import { loadRecordings } from '../../fake-upstream/recordings.ts';
import { SEED } from '../../harness/exhaustive.ts';
import { randomRequest } from '../translation/conversations/random-requests.ts';
import { exchangeSets, orRefusal, readRequest, writeRequest } from '../translation/rig.ts';
import { type Json, object } from '../wire-text.ts';
import { judgeConverseRequest } from './judge-request.ts';
import { judgeShape, SHAPES_SOURCE } from './judge-shape.ts';

const RUNS = process.env.TOLLGATE_EXHAUSTIVE === '1' ? 10_000 : 2_000;

const MODELS = [
  'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
  'anthropic.claude-3-haiku-20240307-v1:0',
  'us.amazon.nova-2-lite-v1:0',
  'amazon.nova-micro-v1:0',
  'openai.gpt-oss-120b-1:0',
  'openai.gpt-5.2-v1:0',
  'mistral.mistral-large-3-675b-instruct',
  'meta.llama4-maverick-17b-instruct-v1:0',
  'arn:aws:bedrock:eu-central-1:123456789012:application-inference-profile/abc123',
] as const;

/** Recorders cut the bytes of sounds. */
const SHORTENED = /audio\.source\.bytes is no base64$/;

/** A model that says of itself only what its name says. */
function traitsOf(model: string): UpstreamTraits {
  return { ...CAPABLE, model, takes: { ...CAPABLE.takes, structured_output: null } };
}

const SETTINGS = {
  guardrail: { identifier: 'abc123', version: '7', trace: 'enabled', streamProcessing: 'async' },
  serviceTier: 'flex',
  latency: 'optimized',
} as const;

function bodyFor(request: GenerationRequest, model: string, isSet: boolean): Json {
  const traits = traitsOf(model);
  return JSON.parse(writeRequest('converse', request, isSet ? { ...traits, converse: SETTINGS } : traits).json);
}

test(`over 1,000 generated conversations validate against the service model of ${SHAPES_SOURCE}`, () => {
  let legal = 0;
  fc.assert(
    fc.property(randomRequest, fc.constantFrom(...MODELS), fc.boolean(), (request, model, isSet) => {
      const outcome = orRefusal(() => bodyFor(request, model, isSet));
      if ('refused' in outcome) {
        // Bedrock fetches nothing and has no search: the only refusals of generated requests.
        expect(outcome.refused).toMatch(
          /which Bedrock does not fetch|another host keeps|Bedrock has no search|at least 1 token/,
        );
        return;
      }
      expect([model, judgeConverseRequest(outcome as Json, request.stream)]).toEqual([model, []]);
      legal += 1;
    }),
    { numRuns: RUNS, seed: SEED },
  );
  console.log(`Converse requests: ${legal} of ${RUNS} generated conversations are legal, the others refused`);
  expect(legal).toBeGreaterThan(1_000);
}, 120_000);

describe.each(exchangeSets())('requests of $name', ({ name, exchanges }) => {
  test('are legal at every vendor, from both client formats, or refused with a word on the member', () => {
    let legal = 0;
    const refusals = new Map<string, number>();
    for (const [index, { id, format, request }] of exchanges.entries()) {
      if (request === null) continue;
      const read = orRefusal(() => readRequest(format, request));
      if ('refused' in read) continue;
      const model = MODELS[index % MODELS.length] ?? '';
      const outcome = orRefusal(() => bodyFor(read.request, model, false));
      if ('refused' in outcome) {
        const words = String(outcome.refused)
          .replace(/^[^:]+: /, '')
          .slice(0, 60);
        refusals.set(words, (refusals.get(words) ?? 0) + 1);
        continue;
      }
      legal += 1;
      const faults = judgeConverseRequest(outcome as Json, read.request.stream).filter((one) => !SHORTENED.test(one));
      expect([id, model, faults]).toEqual([id, model, []]);
    }
    console.log(`Converse requests of ${name}: ${legal} legal, refused: ${JSON.stringify([...refusals])}`);
    expect(legal).toBeGreaterThanOrEqual(name === 'corpus' ? 140 : 500);
  });
});

/** Requests with what the gateway never sends: guarded content, and blocks of server tools in the history. */
const OF_OTHERS: readonly string[] = ['bedrock-converse/0080', 'bedrock-converse/0090'];

describe('the judge', () => {
  test('agrees with Bedrock on the recorded requests that it answered', () => {
    const answered = (loadRecordings({ api: 'bedrock-converse' }) ?? []).filter(
      ({ response }) => response.status === 200,
    );
    const refused = answered.filter(
      ({ request, stream }) => judgeConverseRequest(object(request?.body) ?? {}, stream).length > 0,
    );
    expect(refused.map(({ id }) => id)).toEqual(answered.length === 0 ? [] : [...OF_OTHERS]);
  });

  const text = (words: string): Json => ({ text: words });
  const use = { toolUse: { toolUseId: 't1', name: 'look', input: {} } };
  const result = { toolResult: { toolUseId: 't1', content: [text('found')] } };
  const user = (...content: readonly Json[]) => ({ role: 'user', content });
  const assistant = (...content: readonly Json[]) => ({ role: 'assistant', content });
  const spec = { toolSpec: { name: 'look', inputSchema: { json: { type: 'object' } } } };
  const point = { cachePoint: { type: 'default' } };
  const GOOD: Json = {
    system: [text('be kind'), point],
    messages: [user(text('hi')), assistant(text('one moment'), use), user(result, text('and?'))],
    toolConfig: { tools: [spec], toolChoice: { auto: {} } },
    inferenceConfig: { maxTokens: 10, temperature: 0.5 },
  };
  const turns = (...messages: readonly Json[]): Json => ({ messages });

  test('finds nothing in a legal request', () => {
    expect(judgeConverseRequest(GOOD, false)).toEqual([]);
  });

  test.each<readonly [string, Json]>([
    ['.n is unknown', { n: 1 }],
    ['.inferenceConfig.temperature 1.5', { inferenceConfig: { temperature: 1.5 } }],
    ['.inferenceConfig.maxTokens 0', { inferenceConfig: { maxTokens: 0 } }],
    ['2 members of a union', turns(user({ text: 'a', image: { format: 'png', source: { bytes: 'aGk=' } } }))],
    ['.name is missing', { toolConfig: { tools: [{ toolSpec: { inputSchema: { json: {} } } }] } }],
    ['unlike', turns(user(text('a')), assistant({ toolUse: { toolUseId: 'a b', name: 'look', input: {} } }))],
    ['tools: entries 0', { toolConfig: { tools: [] } }],
    ['.ttl is 2h', { system: [text('a'), { cachePoint: { type: 'default', ttl: '2h' } }] }],
    ['is no base64', turns(user({ image: { format: 'png', source: { bytes: '?' } } }))],
    ['not the user’s', turns(assistant(text('hi')))],
    ['a second of the user', turns(user(text('a')), user(text('b')))],
    ['is empty', turns(user())],
    ['a blank text', turns(user(text(' ')))],
    ['of the user has a toolUse', turns(user(use))],
    ['are followed by', turns(user(text('a')), assistant(use), user(text('b')))],
    ['the results are not first', turns(user(text('a')), assistant(use), user(text('late'), result))],
    ['a result without a call', turns(user(result))],
    ['two calls of one id', turns(user(text('a')), assistant(use, use), user(result, result))],
    ['no toolConfig', { toolConfig: undefined }],
    ['a choice of other', { toolConfig: { tools: [spec], toolChoice: { tool: { name: 'other' } } } }],
    ['tools of one name', { toolConfig: { tools: [spec, spec] } }],
    ['is of no object', { toolConfig: { tools: [{ toolSpec: { name: 'look', inputSchema: { json: {} } } }] } }],
    ['two tool choices', { additionalModelRequestFields: { tool_choice: { type: 'auto' } } }],
    ['a cache point after nothing', { system: [point] }],
    ['two cache points', { system: [text('a'), point, point] }],
    ['6 cache points', turns(user(...Array.from({ length: 5 }, () => [text('a'), point]).flat()))],
    ['an image called png', turns(user({ image: { format: 'png', source: { bytes: 'aGk=' } } }))],
    ['a document without a text', turns(user({ document: { format: 'txt', name: 'a', source: { bytes: 'aGk=' } } }))],
    ['document names', turns(user(text('a'), { document: { format: 'txt', name: 'a.b', source: { bytes: 'aGk=' } } }))],
    ['unsigned', turns(user(text('a')), assistant({ reasoningContent: { reasoningText: { text: 'a' } } }, text('b')))],
    ['an empty result', turns(user(text('a')), assistant(use), user({ toolResult: { toolUseId: 't1', content: [] } }))],
    ['ends with space', turns(user(text('a')), assistant(text('b ')))],
  ])('finds the fault: %s', (fault, change) => {
    expect(judgeConverseRequest(JSON.parse(JSON.stringify({ ...GOOD, ...change })), false).join('\n')).toContain(fault);
  });

  test('allows members of streams in streams only', () => {
    const guardrailConfig = { guardrailIdentifier: 'a', guardrailVersion: '1', streamProcessingMode: 'sync' };
    expect(judgeShape({ guardrailConfig }, true)).toEqual([]);
    expect(judgeShape({ guardrailConfig }, false)).toEqual(['.guardrailConfig.streamProcessingMode is unknown']);
  });
});
