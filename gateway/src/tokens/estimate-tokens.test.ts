/** Tests our token estimate: what raises it, what does not, and its value for texts with a known count. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { type Part, textPart } from '../generation/part.ts';
import type { GenerationRequest, Tool, Turn } from '../generation/request.ts';
import { assistantTurn, requestOf, turn, userTurn } from '../generation/testing/request-of.ts';
import { estimatePromptTokens, estimateTextTokens } from './estimate-tokens.ts';
import { TOKEN_FAMILIES } from './token-families.ts';

function conversation(...turns: Turn[]): GenerationRequest {
  return requestOf({ turns });
}

const WEATHER: Tool = {
  kind: 'function',
  name: 'get_weather',
  description: 'The weather of a city.',
  parameters: '{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}',
  strict: null,
  cache_mark: null,
};
const QUESTION = userTurn(textPart('What is the weather in Berlin?'));
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
    expect(tokens(conversation())).toBeGreaterThanOrEqual(1);
    expect(estimateTextTokens('', family)).toBe(0);
  });

  test('each of these raises the estimate', () => {
    const question = conversation(QUESTION);
    const steps = [
      question,
      { ...question, tools: [WEATHER] },
      { ...conversation(QUESTION, assistantTurn(CALL)), tools: [WEATHER] },
      { ...conversation(QUESTION, assistantTurn(THOUGHT, CALL)), tools: [WEATHER] },
      { ...conversation(QUESTION, assistantTurn(THOUGHT, CALL), userTurn(result(textPart('15°C')))), tools: [WEATHER] },
      {
        ...conversation(
          turn('system', [textPart('Be brief.')]),
          QUESTION,
          assistantTurn(THOUGHT, CALL),
          userTurn(result(textPart('15°C'))),
        ),
        tools: [WEATHER],
      },
    ].map(tokens);
    for (const [index, count] of steps.slice(1).entries()) expect(count).toBeGreaterThan(steps[index] ?? 0);
  });

  test('does not count reasoning before the last question', () => {
    const answered = [QUESTION, assistantTurn(textPart('Sunny.')), QUESTION];
    const thought = [QUESTION, assistantTurn(THOUGHT, textPart('Sunny.')), QUESTION];
    expect(tokens(conversation(...thought))).toBe(tokens(conversation(...answered)));
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
  const base = estimatePromptTokens(conversation(userTurn()), 'gpt');

  test('an image counts by its formula, in a tool’s result too', () => {
    expect(estimatePromptTokens(conversation(userTurn(image)), 'gpt') - base).toBe(765);
    const inResult: Part = { kind: 'tool_result', call_id: 'c', parts: [image], is_error: false, cache_mark: null };
    expect(estimatePromptTokens(conversation(userTurn(inResult)), 'gpt')).toBeGreaterThanOrEqual(base + 765);
  });

  test('a document of text counts as its text, one of pages by its pages', () => {
    const document = (source: Extract<Part, { kind: 'document' }>['source']): Part => {
      return { kind: 'document', source, title: null, context: null, cites: false, cache_mark: null };
    };
    const text = 'A short document.';
    const asText = estimatePromptTokens(conversation(userTurn(document({ kind: 'text', text }))), 'gpt');
    expect(asText).toBe(estimatePromptTokens(conversation(userTurn(textPart(text))), 'gpt'));
    const asPages = estimatePromptTokens(conversation(userTurn(document({ kind: 'file', id: 'file_1' }))), 'gpt');
    expect(asPages - base).toBe(3_000);
  });

  test('a schema that is no JSON counts as its text', () => {
    const broken = { ...conversation(QUESTION), tools: [{ ...WEATHER, parameters: '{"properties":' }] };
    expect(estimatePromptTokens(broken, 'claude')).toBeGreaterThan(
      estimatePromptTokens(conversation(QUESTION), 'claude'),
    );
  });
});

test('the estimate adds tokens for forced tools and required formats', () => {
  const tooled = { ...conversation(QUESTION), tools: [WEATHER] };
  const forced: GenerationRequest = { ...tooled, tool_choice: { kind: 'required' } };
  expect(estimatePromptTokens(forced, 'claude')).toBeGreaterThan(estimatePromptTokens(tooled, 'claude'));
  const formed: GenerationRequest = { ...conversation(QUESTION), output_format: { kind: 'json' } };
  expect(estimatePromptTokens(formed, 'claude')).toBeGreaterThan(
    estimatePromptTokens(conversation(QUESTION), 'claude') + 50,
  );
});
