/** Tests the rendering of a request's settings against the wire reference, C.1 and C.7, and the table of features. */
import { describe, expect, test } from 'bun:test';
import { type CacheMark, type Part, textPart } from '../../../generation/part.ts';
import { FEATURES, type GenerationRequest } from '../../../generation/request.ts';
import { readFate } from '../../request/translation-notes.ts';
import { CAPABLE, withMessagesTraits } from '../../testing/capable-upstream.ts';
import { refusal, render, requestWith } from '../testing/request-rig.ts';
import { RENDERED_FEATURES } from './render-request.ts';

const UNSAMPLED = withMessagesTraits({ sampling: false });
const sampling = (changes: Partial<GenerationRequest>, traits = CAPABLE) => {
  const { body, dropped } = render(requestWith(changes), traits);
  return [body.temperature, body.top_p, body.top_k, dropped];
};

test('a plain request is the model, the most tokens and the turn', () => {
  expect(render(requestWith({})).json).toBe(
    '{"model":"upstream-model","max_tokens":4000,"messages":[{"role":"user","content":[{"type":"text","text":"hello"}]}]}',
  );
});

test('returns nothing to undo if nothing changed', () => {
  const { tools, outputTool, extractsJson, stopTexts } = render(requestWith({}));
  expect([tools.restored.size, tools.custom.size, outputTool, extractsJson, stopTexts]).toEqual([
    0,
    0,
    null,
    false,
    [],
  ]);
});

describe('sampling', () => {
  test('vector 43: temperature 1 at a model without sampling is left out without a word', () => {
    for (const requested of [{ temperature: 1 }, { top_p: 1 }, { temperature: 1, top_p: 1 }]) {
      expect(sampling(requested, UNSAMPLED)).toEqual([undefined, undefined, undefined, []]);
    }
  });

  test('other values at a model without sampling are dropped and named', () => {
    const requested = { temperature: 0, top_p: 0.5, top_k: 5, named: { temperature: 'temperature' } };
    expect(sampling(requested, UNSAMPLED)).toEqual([
      undefined,
      undefined,
      undefined,
      ['temperature', 'top_p', 'top_k'],
    ]);
  });

  test('a strict key has them refused', () => {
    expect(refusal(() => render(requestWith({ temperature: 0 }), UNSAMPLED, true))?.param).toBe('temperature');
  });

  test('a temperature above 1 becomes 1 and is named', () => {
    expect(sampling({ temperature: 1.7 })).toEqual([1, undefined, undefined, ['temperature']]);
    expect(sampling({ temperature: 0.7, top_k: 3 })).toEqual([0.7, undefined, 3, []]);
  });

  test('a default next to the other sampling member is omitted, because some models refuse both', () => {
    expect(sampling({ temperature: 0.7, top_p: 1 })).toEqual([0.7, undefined, undefined, []]);
    expect(sampling({ temperature: 1, top_p: 0.9 })).toEqual([undefined, 0.9, undefined, []]);
  });

  test('temperature goes alone to a model that refuses the two together, and top_p is named', () => {
    const single = withMessagesTraits({ samplingPair: false });
    expect(sampling({ temperature: 0.7, top_p: 0.9 }, single)).toEqual([0.7, undefined, undefined, ['top_p']]);
    expect(sampling({ temperature: 1.5, top_p: 0.9 }, single)).toEqual([
      1,
      undefined,
      undefined,
      ['temperature', 'top_p'],
    ]);
    expect(sampling({ top_p: 0.9 }, single)).toEqual([undefined, 0.9, undefined, []]);
    expect(sampling({ temperature: 0.7, top_p: 0.9 })).toEqual([0.7, 0.9, undefined, []]);
    // Thinking removes the temperature, so that top_p is alone.
    const reasoning = { mode: 'budget', budgetTokens: 2000, effort: null, display: null } as const;
    expect(sampling({ reasoning, temperature: 0.7, top_p: 0.96 }, single)).toEqual([
      undefined,
      0.96,
      undefined,
      ['temperature'],
    ]);
    expect(refusal(() => render(requestWith({ temperature: 0, top_p: 0.5 }), single, true))?.param).toBe('top_p');
  });

  test('omits a top_k that means all tokens', () => {
    for (const top_k of [-1, 0]) expect(sampling({ top_k })).toEqual([undefined, undefined, undefined, []]);
  });

  test('sends only the options that Anthropic accepts with thinking', () => {
    const reasoning = { mode: 'budget', budgetTokens: 2000, effort: null, display: null } as const;
    expect(sampling({ reasoning, temperature: 0.2, top_p: 0.5, top_k: 5 })).toEqual([
      undefined,
      undefined,
      undefined,
      ['temperature', 'top_p', 'top_k'],
    ]);
    expect(sampling({ reasoning, temperature: 1 })).toEqual([1, undefined, undefined, []]);
    expect(sampling({ reasoning, top_p: 0.96 })).toEqual([undefined, 0.96, undefined, []]);
    expect(sampling({ reasoning: { ...reasoning, mode: 'off' }, temperature: 0.2 })).toEqual([
      0.2,
      undefined,
      undefined,
      [],
    ]);
  });
});

describe('the most tokens', () => {
  const limit = (requested: number | null, most: number | null) => {
    const request = requestWith({ outputTokensMax: requested, named: { output_limit: 'max_completion_tokens' } });
    const { body, dropped } = render(request, withMessagesTraits({}, {}, { outputTokensMax: most }));
    return [body.max_tokens, dropped];
  };

  test('are the requested ones, else the model’s maximum, else 8192', () => {
    expect(limit(5, 64_000)).toEqual([5, []]);
    expect(limit(null, 64_000)).toEqual([64_000, []]);
    expect(limit(null, null)).toEqual([8192, []]);
    expect(limit(0, null)).toEqual([0, []]);
  });

  test('above the most of the model are capped and named', () => {
    expect(limit(100_000, 64_000)).toEqual([64_000, ['max_completion_tokens']]);
  });
});

test('stop texts of white space are looked for in the answer; empty ones stop nothing', () => {
  const { body, stopTexts, dropped } = render(requestWith({ stop: ['END', '', '\n\n', ' x'] }));
  expect([body.stop_sequences, stopTexts, dropped]).toEqual([['END', ' x'], ['\n\n'], []]);
  expect(render(requestWith({ stop: [''] })).body.stop_sequences).toBeUndefined();
});

test.each([
  ['auto', 'auto', []],
  ['default', 'standard_only', []],
  ['standard_only', 'standard_only', []],
  ['flex', undefined, ['service_tier']],
  [null, undefined, []],
] as const)('the service tier %s is %s', (service_tier, written, dropped) => {
  const rendered = render(requestWith({ service_tier }));
  expect([rendered.body.service_tier, rendered.dropped]).toEqual([written, [...dropped]]);
});

describe('cache marks', () => {
  const marked = (ttlMinutes: number | null): Part => ({ ...textPart('t'), cache_mark: { ttlMinutes } });
  const ttls = (parts: readonly Part[], changes: Partial<GenerationRequest> = {}) => {
    const turns = [{ role: 'user', name: null, path: 'messages.0', parts }] as const;
    const { body, dropped } = render(
      requestWith({ turns, named: { cache_marks: 'prompt_cache_breakpoint' }, ...changes }),
    );
    return [body.messages[0].content.map(({ cache_control }: { cache_control?: object }) => cache_control), dropped];
  };

  test('bug: Portkey, a mark keeps its time: five minutes or an hour', () => {
    const short = { type: 'ephemeral' };
    const long = { type: 'ephemeral', ttl: '1h' };
    expect(ttls([null, 5, 30, 60].map(marked))).toEqual([[short, short, long, long], []]);
    expect(ttls([marked(720)])).toEqual([[long], []]);
  });

  test('more than four marks lose the first ones, which is reported; a mark on the whole request counts', () => {
    const five = Array.from({ length: 5 }, () => marked(null));
    const kept = { type: 'ephemeral' };
    expect(ttls(five)).toEqual([[undefined, kept, kept, kept, kept], ['prompt_cache_breakpoint']]);
    const cache_mark: CacheMark = { ttlMinutes: null };
    expect(ttls(five.slice(1), { cache_mark })).toEqual([[undefined, kept, kept, kept], ['prompt_cache_breakpoint']]);
  });

  test('on tools come before those on system, and those before the turns', () => {
    const turns = [
      { role: 'system', name: null, path: 'messages.0', parts: [marked(null), marked(null)] },
      { role: 'user', name: null, path: 'messages.1', parts: [marked(null), marked(null)] },
    ] as const;
    const tools = [
      {
        kind: 'function',
        name: 't',
        description: null,
        parameters: null,
        strict: null,
        cache_mark: { ttlMinutes: null },
      },
    ] as const;
    const { body } = render(requestWith({ turns, tools }));
    expect(body.tools[0].cache_control).toBeUndefined();
    expect(body.system[0].cache_control).toEqual({ type: 'ephemeral' });
  });
});

/** A request for each feature that the format drops, and one that requests nothing. */
const DROPPED = {
  frequency_penalty: [0.5, 0],
  presence_penalty: [0.5, 0],
  seed: [7, 0],
  verbosity: ['high', 'medium'],
} as const;

test('the features that the table calls dropped are those that are, by the caller’s own name', () => {
  expect(FEATURES.filter((feature) => readFate(RENDERED_FEATURES[feature]).fate === 'dropped')).toEqual([
    'frequency_penalty',
    'presence_penalty',
    'seed',
    'verbosity',
  ]);
  for (const [feature, [value, nothing]] of Object.entries(DROPPED)) {
    const named = { [feature]: `my_${feature}` };
    expect(render(requestWith({ [feature]: value, named })).dropped).toEqual([`my_${feature}`]);
    expect(render(requestWith({ [feature]: nothing, named })).dropped).toEqual([]);
  }
});

/** The rendered form of each carried feature. */
const CARRIED: Readonly<Record<string, readonly [Partial<GenerationRequest>, member: string]>> = {
  tools: [
    { tools: [{ kind: 'function', name: 't', description: null, parameters: null, strict: null, cache_mark: null }] },
    'tools',
  ],
  tool_choice: [
    { tools: [{ kind: 'custom', name: 't', description: null, grammar: null }], tool_choice: { kind: 'auto' } },
    'tool_choice',
  ],
  parallel_tool_calls: [
    { tools: [{ kind: 'custom', name: 't', description: null, grammar: null }], parallel_tool_calls: false },
    'tool_choice',
  ],
  output_limit: [{ outputTokensMax: 5 }, 'max_tokens'],
  stop: [{ stop: ['x'] }, 'stop_sequences'],
  temperature: [{ temperature: 0.5 }, 'temperature'],
  top_p: [{ top_p: 0.5 }, 'top_p'],
  top_k: [{ top_k: 5 }, 'top_k'],
  reasoning: [{ reasoning: { mode: null, budgetTokens: null, effort: 'low', display: null } }, 'thinking'],
  output_format: [
    { output_format: { kind: 'json_schema', name: null, description: null, schema: '{}', strict: null } },
    'output_config',
  ],
  end_user: [{ end_user: 'u' }, 'metadata'],
  service_tier: [{ service_tier: 'auto' }, 'service_tier'],
  cache_marks: [{ cache_mark: { ttlMinutes: null } }, 'cache_control'],
  web_search: [{ web_search: { context_size: null, location: null } }, 'tools'],
};

test('log probabilities are refused', () => {
  const request = requestWith({ logprobs: { top: 0 }, named: { logprobs: 'logprobs' } });
  expect(readFate(RENDERED_FEATURES.logprobs).fate).toBe('refused');
  expect(refusal(() => render(request))).toMatchObject({ param: 'logprobs' });
});

test.each(FEATURES.filter((feature) => ['carried', 'emulated'].includes(readFate(RENDERED_FEATURES[feature]).fate)))(
  '%s is written, and nothing is dropped',
  (feature) => {
    const [changes, member] = CARRIED[feature] ?? [{}, 'no sample'];
    const { body, dropped } = render(requestWith(changes));
    expect(Object.keys(body)).toContain(member);
    expect(dropped).toEqual([]);
  },
);

test('JSON output that only the prompt can request is refused for a strict key', () => {
  const request = requestWith({ output_format: { kind: 'json' }, named: { output_format: 'response_format' } });
  expect(render(request)).toMatchObject({ extractsJson: true });
  expect(refusal(() => render(request, CAPABLE, true))).toMatchObject({ param: 'response_format' });
});
