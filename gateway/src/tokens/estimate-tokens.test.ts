/** Tests our token estimate: what raises it, what does not, and its value for texts with a known count. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { type Part, textPart } from '../generation/part.ts';
import type { GenerationRequest, Tool, Turn } from '../generation/request.ts';
import { estimatePromptTokens, estimateTextTokens } from './estimate-tokens.ts';
import { TOKEN_FAMILIES } from './token-families.ts';

const BARE: GenerationRequest = {
  model: 'm',
  stream: false,
  turns: [],
  tools: [],
  tool_choice: null,
  parallel_tool_calls: null,
  outputTokensMax: null,
  stop: [],
  temperature: null,
  top_p: null,
  top_k: null,
  frequency_penalty: null,
  presence_penalty: null,
  seed: null,
  reasoning: null,
  output_format: null,
  verbosity: null,
  end_user: null,
  service_tier: null,
  cache_mark: null,
  web_search: null,
  named: {},
};

function turn(role: Turn['role'], ...parts: Part[]): Turn {
  return { role, name: null, parts, path: 'messages.0' };
}

function said(...turns: Turn[]): GenerationRequest {
  return { ...BARE, turns };
}

const WEATHER: Tool = {
  kind: 'function',
  name: 'get_weather',
  description: 'The weather of a city.',
  parameters: '{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}',
  strict: null,
  cache_mark: null,
};
const QUESTION = turn('user', textPart('What is the weather in Berlin?'));
const CALL: Part = {
  kind: 'tool_call',
  id: 'call_1',
  name: 'get_weather',
  tool: 'function',
  arguments: '{"city":"Berlin"}',
  cache_mark: null,
};
const THOUGHT: Part = {
  kind: 'reasoning',
  text: 'I need the weather.',
  signature: null,
  redacted: false,
  issuer: null,
};
const result = (...parts: ReturnType<typeof textPart>[]): Part => {
  return { kind: 'tool_result', call_id: 'call_1', parts, is_error: false, cache_mark: null };
};

describe.each(TOKEN_FAMILIES)('%s', (family) => {
  const tokens = (request: GenerationRequest) => estimatePromptTokens(request, family);

  test('an empty request has at least one token, an empty text none', () => {
    expect(tokens(BARE)).toBeGreaterThanOrEqual(1);
    expect(estimateTextTokens('', family)).toBe(0);
  });

  test('each of these raises the estimate', () => {
    const asked = said(QUESTION);
    const steps = [
      asked,
      { ...asked, tools: [WEATHER] },
      { ...said(QUESTION, turn('assistant', CALL)), tools: [WEATHER] },
      { ...said(QUESTION, turn('assistant', THOUGHT, CALL)), tools: [WEATHER] },
      { ...said(QUESTION, turn('assistant', THOUGHT, CALL), turn('user', result(textPart('15°C')))), tools: [WEATHER] },
      {
        ...said(
          turn('system', textPart('Be brief.')),
          QUESTION,
          turn('assistant', THOUGHT, CALL),
          turn('user', result(textPart('15°C'))),
        ),
        tools: [WEATHER],
      },
    ].map(tokens);
    for (const [index, count] of steps.slice(1).entries()) expect(count).toBeGreaterThan(steps[index] ?? 0);
  });

  test('does not count reasoning before the last question', () => {
    const answered = [QUESTION, turn('assistant', textPart('Sunny.')), QUESTION];
    const thought = [QUESTION, turn('assistant', THOUGHT, textPart('Sunny.')), QUESTION];
    expect(tokens(said(...thought))).toBe(tokens(said(...answered)));
  });

  test('a text of ordinary English has three to six characters a token', () => {
    const text = 'The gateway counts what it has sent and received, so that every call is on the bill exactly once. ';
    const perToken = (text.length * 20) / estimateTextTokens(text.repeat(20), family);
    expect(perToken).toBeGreaterThan(3);
    expect(perToken).toBeLessThan(6);
  });

  test('any text is estimated as an integer, and more text never as less', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (one, other) => {
        const before = estimateTextTokens(one, family);
        expect(Number.isSafeInteger(before)).toBe(true);
        expect(estimateTextTokens(one + other, family)).toBeGreaterThanOrEqual(before);
      }),
    );
  });
});

describe('content that is not text', () => {
  const image: Part = {
    kind: 'image',
    source: { kind: 'url', url: 'https://example.com/a.png' },
    detail: null,
    cache_mark: null,
  };
  const base = estimatePromptTokens(said(turn('user')), 'gpt');

  test('an image counts by its formula, in a tool’s result too', () => {
    expect(estimatePromptTokens(said(turn('user', image)), 'gpt') - base).toBe(765);
    const inResult: Part = { kind: 'tool_result', call_id: 'c', parts: [image], is_error: false, cache_mark: null };
    expect(estimatePromptTokens(said(turn('user', inResult)), 'gpt')).toBeGreaterThanOrEqual(base + 765);
  });

  test('a document of text counts as its text, one of pages by its pages', () => {
    const document = (source: Extract<Part, { kind: 'document' }>['source']): Part => {
      return { kind: 'document', source, title: null, context: null, cites: false, cache_mark: null };
    };
    const text = 'A short document.';
    const asText = estimatePromptTokens(said(turn('user', document({ kind: 'text', text }))), 'gpt');
    expect(asText).toBe(estimatePromptTokens(said(turn('user', textPart(text))), 'gpt'));
    const asPages = estimatePromptTokens(said(turn('user', document({ kind: 'file', id: 'file_1' }))), 'gpt');
    expect(asPages - base).toBe(3_000);
  });

  test('a schema that is no JSON counts as its text', () => {
    const broken = { ...said(QUESTION), tools: [{ ...WEATHER, parameters: '{"properties":' }] };
    expect(estimatePromptTokens(broken, 'claude')).toBeGreaterThan(estimatePromptTokens(said(QUESTION), 'claude'));
  });
});

test('more than what stands in the request is foreseen where tools must be called or a form is demanded', () => {
  const tooled = { ...said(QUESTION), tools: [WEATHER] };
  const forced: GenerationRequest = { ...tooled, tool_choice: { kind: 'required' } };
  expect(estimatePromptTokens(forced, 'claude')).toBeGreaterThan(estimatePromptTokens(tooled, 'claude'));
  const formed: GenerationRequest = { ...said(QUESTION), output_format: { kind: 'json' } };
  expect(estimatePromptTokens(formed, 'claude')).toBeGreaterThan(estimatePromptTokens(said(QUESTION), 'claude') + 50);
});
