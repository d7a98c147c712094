/**
 * Tests the effect of each host's deviations on a translated request. Each case is also run without the host's quirks, and must
 * then differ. Source: provider reference, G.
 */
import { expect, test } from 'bun:test';
import { buildRemoteProvider } from '../../../src/config/resolve-providers.ts';
import { CallFailure } from '../../../src/errors/call-failure.ts';
import { textPart } from '../../../src/generation/part.ts';
import type { GenerationRequest, ReasoningRequest } from '../../../src/generation/request.ts';
import { assistantTurn, requestOf, userTurn } from '../../../src/generation/testing/request-of.ts';
import { callOf, resultOf } from '../../../src/protocols/chat/testing/chat-request.ts';
import { UPSTREAM_PROTOCOLS } from '../../../src/protocols/registry.ts';
import { startTranslationNotes } from '../../../src/protocols/request/translation-notes.ts';
import { PRESETS } from '../../../src/providers/presets/presets.ts';
import { type Preset, singleCredential } from '../../../src/providers/provider.ts';
import type { ChatQuirks } from '../../../src/providers/quirks.ts';
import { traitsOf } from '../../../src/routing/upstream-traits.ts';

/** The body for a reasoning model of the host, and the other traits of the plan. */
function render({ kind, baseUrl }: Preset, chat: ChatQuirks, model: string, changes: Partial<GenerationRequest>) {
  const provider = buildRemoteProvider({
    name: 'lab',
    kind,
    preset: null,
    address: { url: baseUrl, origin: 'https://host.example' },
    pool: singleCredential({}),
    timeouts: { connectMs: 1, firstByteMs: 1, firstBytePlainMs: 1, idleMs: 1, totalMs: 1 },
  });
  const quirks = { ...provider.quirks, chat };
  const traits = traitsOf({ provider: { ...provider, quirks }, model }, null, { reasoning: true });
  const notes = startTranslationNotes(false);
  try {
    const rendered = UPSTREAM_PROTOCOLS.chat.renderRequest(requestOf(changes), traits, notes);
    return { ...rendered, body: JSON.parse(rendered.json), dropped: notes.dropped, refused: null };
  } catch (error) {
    if (!(error instanceof CallFailure)) throw error;
    return { body: {}, stopTexts: [], thinkTags: undefined, dropped: [], refused: error.details.param };
  }
}

type Rendered = ReturnType<typeof render>;
type Case = readonly [request: Partial<GenerationRequest>, read: (sent: Rendered) => unknown, expected: unknown];

const thinking = (members: Partial<ReasoningRequest>): Partial<GenerationRequest> => ({
  reasoning: { mode: null, budgetTokens: null, effort: null, display: null, ...members },
});
const TOOL = {
  kind: 'function',
  name: 'tide_at',
  description: null,
  parameters: null,
  strict: null,
  cache_mark: null,
} as const;
const THOUGHT = { kind: 'reasoning', text: 'A tide.', signature: null, redacted: false, issuer: null } as const;
const ASKED = userTurn(textPart('When?'));
const CALLED = [ASKED, assistantTurn(THOUGHT, callOf('call_0123456789')), userTurn(resultOf('call_0123456789'))];
const PDF = {
  kind: 'document',
  source: { kind: 'base64', media_type: 'application/pdf', base64: 'JVBERg==' },
  title: null,
  context: null,
  cites: false,
  cache_mark: null,
} as const;

const WITHOUT_TOP_K: Case = [{ top_k: 5 }, ({ body, dropped }) => [body.top_k, dropped], [undefined, ['top_k']]];
const NEWER_LIMIT: Case = [{ outputTokensMax: 7 }, ({ body }) => body.max_completion_tokens, 7];
const WITHOUT_PARALLEL: Case = [
  { tools: [TOOL], parallel_tool_calls: false },
  ({ body, dropped }) => [body.parallel_tool_calls, dropped],
  [undefined, ['parallel_tool_calls']],
];
const prefilled = (member: string): Case => [
  { turns: [ASKED, assistantTurn(textPart('At '))] },
  ({ body }) => body[member] ?? body.messages.at(-1)[member],
  true,
];
const REASONING_BACK: Case = [{ turns: CALLED }, ({ body }) => body.messages[1].reasoning_content, 'A tide.'];
const UNREASONED = [
  ASKED,
  assistantTurn(textPart('Now.')),
  ASKED,
  assistantTurn(callOf('call_0123456789')),
  userTurn(resultOf('call_0123456789')),
];
const filled = (...expected: readonly unknown[]): Case => [
  { turns: UNREASONED },
  ({ body }) => [body.messages[1].reasoning_content, body.messages[3].reasoning_content],
  expected,
];
const told = (role: 'system' | 'developer', text: string) => ({ ...userTurn(textPart(text)), role });
const STRICT_TURNS: Case = [
  {
    turns: [
      told('system', 'Be brief.'),
      told('developer', 'Be kind.'),
      ASKED,
      userTurn(textPart('Now?')),
      assistantTurn(textPart('At noon.')),
      told('system', 'Be exact.'),
      ASKED,
    ],
  },
  ({ body }) => body.messages,
  [
    { role: 'system', content: 'Be brief.\n\nBe kind.' },
    { role: 'user', content: 'When?\n\nNow?' },
    { role: 'assistant', content: 'At noon.' },
    { role: 'user', content: '<system>Be exact.</system>\n\nWhen?' },
  ],
];
const ANSWERED: Case = [
  { turns: [...CALLED.slice(0, 2), userTurn(resultOf('call_0123456789'), textPart('Hurry.'))] },
  ({ body }) => body.messages.slice(2).map(({ role, content }: { role: string; content: string }) => [role, content]),
  [
    ['tool', expect.any(String)],
    ['assistant', 'OK.'],
    ['user', 'Hurry.'],
  ],
];
const WITHOUT_USAGE: Case = [{ stream: true }, ({ body }) => [body.stream, body.stream_options], [true, undefined]];
const TAGS: Case = [{}, ({ thinkTags }) => thinkTags, true];
const STOP_SEARCHED: Case = [{ stop: ['END'] }, ({ body, stopTexts }) => [body.stop, stopTexts], [undefined, ['END']]];
const switched = (mode: ReasoningRequest['mode'], type: string): Case => [
  thinking({ mode }),
  ({ body }) => body.thinking,
  { type },
];
const forced = (...expected: readonly unknown[]): Case => [
  { ...thinking({ effort: 'high' }), tools: [TOOL], tool_choice: { kind: 'tool', name: 'tide_at' } },
  ({ body, dropped }) => [body.thinking, body.enable_thinking, body.tool_choice?.function.name, dropped],
  [...expected, 'tide_at', ['reasoning']],
];
const effort = (wanted: ReasoningRequest['effort'], sent: string | undefined): Case => [
  thinking({ effort: wanted }),
  ({ body }) => body.reasoning_effort,
  sent,
];

/** By host and quirk, with the model that shows it. */
const CASES: ReadonlyArray<readonly [preset: string, quirk: keyof ChatQuirks, model: string, Case]> = [
  ['mistral', 'toolIds', 'tide-1', [{ turns: CALLED }, ({ body }) => body.messages[1].tool_calls[0].id.length, 9]],
  ['mistral', 'prefill', 'tide-1', prefilled('prefix')],
  ['mistral', 'usageOption', 'tide-1', WITHOUT_USAGE],
  ['mistral', 'top_k', 'tide-1', WITHOUT_TOP_K],
  ['mistral', 'strictTurns', 'tide-1', STRICT_TURNS],
  ['mistral', 'answersResults', 'tide-1', ANSWERED],
  ...['alibaba', 'minimax', 'perplexity', 'ollama', 'vllm', 'sglang', 'llama-cpp', 'lmstudio', 'localai'].map(
    (name) => [name, 'strictTurns', 'tide-1', STRICT_TURNS] as const,
  ),
  ['deepseek', 'reasoningInHistory', 'tide-1', REASONING_BACK],
  ['deepseek', 'unreasonedRefused', 'tide-1', filled(' ', ' ')],
  ['deepseek', 'thinkingSwitch', 'tide-1', switched('off', 'disabled')],
  ['deepseek', 'top_k', 'tide-1', WITHOUT_TOP_K],
  ['deepseek', 'forcedWhileReasoning', 'tide-1', forced({ type: 'disabled' }, undefined)],
  [
    'deepseek',
    'forcedWhileReasoning',
    'tide-1',
    [{ tools: [TOOL], tool_choice: { kind: 'required' } }, ({ body }) => body.thinking, { type: 'disabled' }],
  ],
  ['xai', 'stopMax', 'grok-4', STOP_SEARCHED],
  ['xai', 'effortsOf', 'grok-4.1', effort('high', undefined)],
  ['xai', 'effortsOf', 'grok-4.3-multi-agent', effort('max', 'xhigh')],
  ['xai', 'effortsOf', 'grok-4.5', effort('xhigh', 'high')],
  ['xai', 'effortsOf', 'grok-4.5', [thinking({ mode: 'off' }), ({ body }) => body.reasoning_effort, 'low']],
  ['xai', 'effortsOf', 'grok-4.6', effort('max', 'xhigh')],
  ['xai', 'effortsOf', 'grok-4.3', effort('max', 'high')],
  ['moonshot', 'reasoningInHistory', 'tide-1', REASONING_BACK],
  ['moonshot', 'unreasonedRefused', 'tide-1', filled(undefined, ' ')],
  [
    'moonshot',
    'plainSchemas',
    'kimi-k3',
    [
      { tools: [{ ...TOOL, parameters: '{"type":"object","anyOf":[{"required":["a"]}]}' }] },
      ({ body }) => body.tools[0].function.parameters,
      { anyOf: [{ type: 'object', required: ['a'] }] },
    ],
  ],
  ['moonshot', 'prefill', 'tide-1', prefilled('partial')],
  ['moonshot', 'top_k', 'tide-1', WITHOUT_TOP_K],
  ['moonshot', 'thinkingSwitch', 'kimi-k2.6', switched('adaptive', 'enabled')],
  ['moonshot', 'withoutSwitch', 'kimi-k3', [thinking({ effort: 'high' }), ({ body }) => body.thinking, undefined]],
  ['moonshot', 'forcedWhileReasoning', 'kimi-k2.6', forced({ type: 'disabled' }, undefined)],
  ['moonshot', 'effortsOf', 'kimi-k3', effort('medium', 'low')],
  ['moonshot', 'effortsOf', 'kimi-k2.6', effort('high', undefined)],
  ['zai', 'thinkingSwitch', 'tide-1', switched('off', 'disabled')],
  ['zai', 'withoutSwitch', 'glm-5.3', [thinking({ mode: 'off' }), ({ body }) => body.thinking, undefined]],
  ['zai', 'effortsOf', 'glm-5.3', effort('medium', 'low')],
  ['zai', 'effortsOf', 'glm-5.2', effort('low', 'high')],
  ['zai', 'effortsOf', 'tide-1', effort('high', undefined)],
  [
    'alibaba',
    'thinkingSwitch',
    'tide-1',
    [
      thinking({ mode: 'budget', budgetTokens: 700 }),
      ({ body }) => [body.enable_thinking, body.thinking_budget],
      [true, 700],
    ],
  ],
  ['alibaba', 'forcedWhileReasoning', 'tide-1', forced(undefined, false)],
  ['alibaba', 'effortsOf', 'tide-1', effort('high', undefined)],
  ['minimax', 'thinkTags', 'tide-1', TAGS],
  ['minimax', 'effortsOf', 'tide-1', effort('high', undefined)],
  ['perplexity', 'stopMax', 'tide-1', STOP_SEARCHED],
  ['perplexity', 'thinkTags', 'tide-1', TAGS],
  ['cohere', 'usageOption', 'tide-1', WITHOUT_USAGE],
  ['cohere', 'top_k', 'tide-1', WITHOUT_TOP_K],
  ['cohere', 'parallelToolCalls', 'tide-1', WITHOUT_PARALLEL],
  ['groq', 'top_k', 'tide-1', WITHOUT_TOP_K],
  ['groq', 'effortsOf', 'openai/gpt-oss-20b', effort('max', 'high')],
  ['groq', 'effortsOf', 'qwen/qwen3-32b', effort('high', undefined)],
  ['groq', 'effortsOf', 'tide-1', effort('high', undefined)],
  ['fireworks', 'effortsOf', 'tide-1', effort('xhigh', 'high')],
  ['cerebras', 'outputLimitMember', 'tide-1', NEWER_LIMIT],
  ['cerebras', 'effortsOf', 'gpt-oss-120b', [thinking({ mode: 'off' }), ({ body }) => body.reasoning_effort, 'low']],
  ['cerebras', 'effortsOf', 'zai-glm-4.7', effort('minimal', 'none')],
  ['cerebras', 'top_k', 'tide-1', WITHOUT_TOP_K],
  [
    'openrouter',
    'files',
    'tide-1',
    [{ turns: [userTurn(PDF)] }, ({ body }) => body.messages?.[0].content[0].type, 'file'],
  ],
  ['github-models', 'top_k', 'tide-1', WITHOUT_TOP_K],
  ['github-models', 'stopMax', 'tide-1', [{ stop: ['a', 'b', 'c', 'd', 'e'] }, ({ refused }) => refused, 'stop']],
  ['nvidia-nim', 'top_k', 'tide-1', WITHOUT_TOP_K],
  ['nvidia-nim', 'parallelToolCalls', 'tide-1', WITHOUT_PARALLEL],
  ['snowflake', 'outputLimitMember', 'tide-1', NEWER_LIMIT],
  ['ollama', 'nullContent', 'tide-1', [{ turns: CALLED }, ({ body }) => body.messages[1].content, '']],
  ['ollama', 'parallelToolCalls', 'tide-1', WITHOUT_PARALLEL],
  [
    'lmstudio',
    'namedToolChoice',
    'tide-1',
    [
      { tools: [{ ...TOOL, name: 'wind_at' }, TOOL], tool_choice: { kind: 'tool', name: 'tide_at' } },
      ({ body }) => [
        body.tool_choice,
        body.tools.map(({ function: { name } }: { function: { name: string } }) => name),
      ],
      ['required', ['tide_at']],
    ],
  ],
  ['vllm', 'prefill', 'tide-1', prefilled('continue_final_message')],
  ['sglang', 'prefill', 'tide-1', prefilled('continue_final_message')],
];

test.each(CASES)('%s: %s of %s', (name, quirk, model, [request, read, expected]) => {
  const preset = PRESETS.find((one) => one.name === name);
  const chat = preset?.quirks.chat;
  if (preset === undefined || chat === undefined) throw new Error('no such preset');
  expect(read(render(preset, chat, model, request))).toEqual(expected);
  const { [quirk]: _, ...others } = chat;
  expect(read(render(preset, others, model, request))).not.toEqual(expected);
});

test('every quirk of a host has a case', () => {
  const shown = new Set(CASES.map(([preset, quirk]) => `${preset}: ${quirk}`));
  const listed = PRESETS.flatMap(({ name, quirks }) => Object.keys(quirks.chat).map((quirk) => `${name}: ${quirk}`));
  expect(listed.filter((one) => !shown.has(one))).toEqual([]);
});
