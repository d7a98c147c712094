/**
 * Lists answers with the quirks of hosts, in invented words, and what they must become. Source: provider reference, G
 * and K (vectors 25, 49, 50).
 */
import type { FinishReason } from '../../../src/generation/event.ts';
import { findPreset } from '../../../src/providers/presets/presets.ts';

export interface HostStream {
  readonly preset: string;
  readonly quirk: string;
  /** The chunks of the stream, without `id`, `model` and `created`. */
  readonly chunks: readonly object[];
  readonly becomes: {
    /** The texts of the parts by kind; calls by name. */
    readonly parts: ReadonlyArray<readonly [kind: string, text: string]>;
    /** Absent: the stream ends in an error. */
    readonly finish?: FinishReason;
    /** The counters above 0. */
    readonly usage?: Readonly<Record<string, number>>;
    readonly error?: readonly [type: string, status: number | null];
  };
}

const delta = (members: object, finish_reason: string | null = null) => ({
  choices: [{ index: 0, delta: members, finish_reason }],
});
const USAGE = { prompt_tokens: 12, completion_tokens: 8, total_tokens: 20 };
const CALL = {
  index: 0,
  id: 'call_1',
  type: 'function',
  function: { name: 'tide_at', arguments: '{"port":"Ostrava"}' },
};

export const HOST_STREAMS: readonly HostStream[] = [
  {
    preset: 'mistral',
    quirk: 'vector 49: content is a list with thinking; deltas are padded',
    chunks: [
      { p: 'abcdef', ...delta({ role: 'assistant', content: '' }) },
      delta({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'High water ' }] }] }),
      delta({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'comes twice.' }] }] }),
      delta({ content: [{ type: 'text', text: 'At ' }] }),
      { ...delta({ content: 'noon.' }, 'stop'), usage: USAGE },
    ],
    becomes: {
      parts: [
        ['reasoning', 'High water comes twice.'],
        ['text', 'At noon.'],
      ],
      finish: 'stop',
      usage: { input: 12, output: 8 },
    },
  },
  {
    preset: 'mistral',
    quirk: 'a finish reason says that it gave up',
    chunks: [delta({ content: 'At' }), delta({}, 'error')],
    becomes: { parts: [['text', 'At']], error: ['error', null] },
  },
  {
    preset: 'snowflake',
    quirk: 'vector 50: the finish reason of calls is empty, absent members are empty objects',
    chunks: [
      delta({ role: 'assistant', content: '', reasoning_details: [{ type: 'reasoning.text', text: 'A tide.' }] }),
      delta({ tool_calls: [CALL], content: '' }, ''),
      { choices: [{ index: 0, delta: {}, finish_reason: '' }], usage: { ...USAGE, prompt_tokens_details: {} } },
    ],
    becomes: {
      parts: [
        ['reasoning', 'A tide.'],
        ['tool_call', 'tide_at'],
      ],
      finish: 'tool_calls',
      usage: { input: 12, output: 8 },
    },
  },
  {
    preset: 'deepseek',
    quirk: 'vector 50: usage on the finish chunk counts once; cache hits have a member of their own',
    chunks: [
      delta({ role: 'assistant', reasoning_content: 'Hm.' }),
      delta({ content: 'Noon.' }),
      {
        ...delta({ content: '' }, 'stop'),
        usage: { ...USAGE, prompt_cache_hit_tokens: 10, completion_tokens_details: { reasoning_tokens: 3 } },
      },
    ],
    becomes: {
      parts: [
        ['reasoning', 'Hm.'],
        ['text', 'Noon.'],
      ],
      finish: 'stop',
      usage: { input: 2, cache_read: 10, output: 8, reasoning: 3 },
    },
  },
  {
    preset: 'deepseek',
    quirk: 'it runs out of resources',
    chunks: [delta({ content: 'No' }), delta({}, 'insufficient_system_resource')],
    becomes: { parts: [['text', 'No']], error: ['error', null] },
  },
  {
    preset: 'openrouter',
    quirk: 'vector 50: an error beside the choices, after a finish reason',
    chunks: [
      { provider: 'Harbor', ...delta({ content: 'At' }) },
      delta({ content: '' }, 'length'),
      { ...delta({ content: '' }), error: { code: 502, message: 'The host went away', metadata: {} } },
    ],
    becomes: { parts: [['text', 'At']], error: ['error', 502] },
  },
  {
    preset: 'groq',
    quirk: 'usage has a member of its own',
    chunks: [delta({ content: 'Noon.' }), { ...delta({}, 'stop'), x_groq: { id: 'r', usage: USAGE } }],
    becomes: { parts: [['text', 'Noon.']], finish: 'stop', usage: { input: 12, output: 8 } },
  },
  {
    preset: 'together',
    quirk: 'the finish reason is eos',
    chunks: [
      { choices: [{ index: 0, text: 'Noon.', delta: { content: 'Noon.' }, finish_reason: 'eos' }], usage: USAGE },
    ],
    becomes: { parts: [['text', 'Noon.']], finish: 'stop', usage: { input: 12, output: 8 } },
  },
  {
    preset: 'gemini-openai',
    quirk: 'vector 25: thoughts are only in the total',
    chunks: [
      delta({ role: 'assistant', content: 'Noon.' }, 'stop'),
      { choices: [], usage: { prompt_tokens: 66, completion_tokens: 6, total_tokens: 100 } },
    ],
    becomes: { parts: [['text', 'Noon.']], finish: 'stop', usage: { input: 66, output: 34, reasoning: 28 } },
  },
  {
    preset: 'xai',
    quirk: 'less reasoning than completion, which the total shows to be outside',
    chunks: [
      delta({ content: 'Noon.' }, 'stop'),
      {
        choices: [],
        usage: {
          prompt_tokens: 12,
          completion_tokens: 40,
          total_tokens: 82,
          completion_tokens_details: { reasoning_tokens: 30 },
        },
      },
    ],
    becomes: { parts: [['text', 'Noon.']], finish: 'stop', usage: { input: 12, output: 70, reasoning: 30 } },
  },
  {
    preset: 'xai',
    quirk: 'reasoning is outside the completion',
    chunks: [
      delta({ content: 'Noon.' }, 'stop'),
      {
        choices: [],
        usage: {
          prompt_tokens: 12,
          completion_tokens: 2,
          total_tokens: 334,
          completion_tokens_details: { reasoning_tokens: 320 },
        },
      },
    ],
    becomes: { parts: [['text', 'Noon.']], finish: 'stop', usage: { input: 12, output: 322, reasoning: 320 } },
  },
  {
    preset: 'perplexity',
    quirk: 'thoughts are between tags; usage is on every chunk; the last object is the whole answer',
    chunks: [
      {
        ...delta({ role: 'assistant', content: '<think>' }),
        usage: { ...USAGE, completion_tokens: 1, total_tokens: 13 },
      },
      { ...delta({ content: '\nTides.</think>\n\nNo' }), usage: { ...USAGE, completion_tokens: 4, total_tokens: 16 } },
      { ...delta({ content: 'on.' }, 'stop'), object: 'chat.completion.done', usage: USAGE, citations: [] },
    ],
    becomes: {
      parts: [
        ['reasoning', 'Tides.'],
        ['text', 'Noon.'],
      ],
      finish: 'stop',
      usage: { input: 12, output: 8 },
    },
  },
  {
    preset: 'perplexity',
    quirk: 'deep research counts its reasoning beside everything',
    chunks: [
      {
        ...delta({ content: 'Noon.' }, 'stop'),
        usage: { ...USAGE, citation_tokens: 900, num_search_queries: 3, reasoning_tokens: 700 },
      },
    ],
    becomes: { parts: [['text', 'Noon.']], finish: 'stop', usage: { input: 12, output: 708, reasoning: 700 } },
  },
  {
    preset: 'minimax',
    quirk: 'thoughts are between tags',
    chunks: [delta({ content: '<think>Tides.</think>Noon.' }), delta({}, 'stop'), { choices: [], usage: USAGE }],
    becomes: {
      parts: [
        ['reasoning', 'Tides.'],
        ['text', 'Noon.'],
      ],
      finish: 'stop',
      usage: { input: 12, output: 8 },
    },
  },
  {
    preset: 'minimax',
    quirk: 'a failure under status 200',
    chunks: [{ choices: null, base_resp: { status_code: 1002, status_msg: 'rate limit' } }],
    becomes: { parts: [], error: ['minimax_1002', 429] },
  },
  {
    preset: 'minimax',
    quirk: 'a filter under status 200',
    chunks: [{ choices: null, base_resp: { status_code: 1026, status_msg: 'input new_sensitive' } }],
    becomes: { parts: [], error: ['minimax_1026', 400] },
  },
  {
    preset: 'minimax',
    quirk: 'status 0 is none',
    chunks: [{ ...delta({ content: 'Noon.' }, 'stop'), base_resp: { status_code: 0, status_msg: '' } }],
    becomes: { parts: [['text', 'Noon.']], finish: 'stop' },
  },
  {
    preset: 'deepinfra',
    quirk: 'thoughts of Google’s models are in no other number',
    chunks: [
      delta({ content: 'Noon.' }, 'stop'),
      { choices: [], usage: { ...USAGE, estimated_cost: 0.01, completion_tokens_details: { reasoning_tokens: 90 } } },
    ],
    becomes: { parts: [['text', 'Noon.']], finish: 'stop', usage: { input: 12, output: 98, reasoning: 90 } },
  },
  {
    preset: 'alibaba',
    quirk: 'cache writes are within the prompt',
    chunks: [
      delta({ content: 'Noon.' }, 'stop'),
      {
        choices: [],
        usage: {
          ...USAGE,
          prompt_tokens_details: { cached_tokens: 2, cache_creation_input_tokens: 7, cache_type: 'ephemeral' },
        },
      },
    ],
    becomes: {
      parts: [['text', 'Noon.']],
      finish: 'stop',
      usage: { input: 3, cache_read: 2, cache_write_5m: 7, output: 8 },
    },
  },
  {
    preset: 'moonshot',
    quirk: 'cache hits are at the top',
    chunks: [delta({ content: 'Noon.' }, 'stop'), { choices: [], usage: { ...USAGE, cached_tokens: 4 } }],
    becomes: { parts: [['text', 'Noon.']], finish: 'stop', usage: { input: 8, cache_read: 4, output: 8 } },
  },
  {
    preset: 'databricks',
    quirk: 'content is a list with a summary of its reasoning',
    chunks: [
      delta({ content: [{ type: 'reasoning', summary: [{ type: 'summary_text', text: 'Tides.' }] }] }),
      delta({ content: [{ type: 'text', text: 'Noon.' }] }, 'stop'),
      { choices: [], usage: USAGE },
    ],
    becomes: {
      parts: [
        ['reasoning', 'Tides.'],
        ['text', 'Noon.'],
      ],
      finish: 'stop',
      usage: { input: 12, output: 8 },
    },
  },
  {
    preset: 'ollama',
    quirk: 'a whole call, finished by stop',
    chunks: [delta({ role: 'assistant', content: '', tool_calls: [CALL] }), delta({ content: '' }, 'stop')],
    becomes: { parts: [['tool_call', 'tide_at']], finish: 'tool_calls' },
  },
  {
    preset: 'vllm',
    quirk: 'null members, and the stop sequence by name',
    chunks: [
      delta({ role: 'assistant', content: null, reasoning: 'Hm.', tool_calls: null }),
      {
        choices: [{ index: 0, delta: { content: 'Noon.' }, logprobs: null, finish_reason: 'stop', stop_reason: '###' }],
      },
    ],
    becomes: {
      parts: [
        ['reasoning', 'Hm.'],
        ['text', 'Noon.'],
      ],
      finish: 'stop_sequence',
    },
  },
  {
    preset: 'sglang',
    quirk: 'the stop sequence has another name',
    chunks: [{ choices: [{ index: 0, delta: { content: 'No' }, finish_reason: 'stop', matched_stop: '###' }] }],
    becomes: { parts: [['text', 'No']], finish: 'stop_sequence' },
  },
  {
    preset: 'llama-cpp',
    quirk: 'timings beside the last chunk',
    chunks: [
      delta({ reasoning_content: 'Hm.' }),
      { ...delta({ content: 'Noon.' }, 'stop'), timings: { predicted_n: 8 }, usage: USAGE },
    ],
    becomes: {
      parts: [
        ['reasoning', 'Hm.'],
        ['text', 'Noon.'],
      ],
      finish: 'stop',
      usage: { input: 12, output: 8 },
    },
  },
];

/** Whether answers of the preset may begin with tagged thoughts. */
export function hasThinkTags(preset: string): boolean {
  return findPreset(preset)?.quirks.chat.thinkTags === true;
}
