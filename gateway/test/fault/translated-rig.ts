/** Provides small streams and models for the suites on translated streams. */
import type { Scenario } from '../fake-upstream/scenario.ts';
import { pointAt } from '../harness/point-at.ts';
import { type Pair, startPair } from '../harness/start-pair.ts';
import type { ProtocolName } from './calls.ts';

/** Upstream format for each client format. */
export const UPSTREAM_OF = { chat: 'messages', messages: 'chat' } as const satisfies Record<ProtocolName, ProtocolName>;

/** Starts a gateway whose models `<client's format>-<name>` are served by an upstream of the other format. */
export function startTranslated(
  names: readonly string[],
  more: { readonly limits?: object; readonly timeouts?: object; readonly routing?: object; readonly apart?: true } = {},
) {
  const of = (client: ProtocolName) => names.map((name) => translatedModel(client, name));
  return startPair((url) => pointAt(url, { chat: of('messages'), messages: of('chat'), ...more }));
}

/** Name of a model that a client of a format reaches by translation. */
export function translatedModel(client: ProtocolName, name: string): string {
  return `${client}-${name}`;
}

/** Scripts a model for clients of both formats, by upstream's format. */
export function scriptBoth({ fake }: Pair, name: string, scenario: Scenario): void {
  for (const client of ['chat', 'messages'] as const) fake.script(translatedModel(client, name), scenario);
}

const chunk = (delta: object, finish_reason: string | null = null) =>
  `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
const event = (type: string, members: object = {}) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;
const part = (index: number, content_block: object, ...deltas: object[]) => [
  event('content_block_start', { index, content_block }),
  ...deltas.map((delta) => event('content_block_delta', { index, delta })),
  event('content_block_stop', { index }),
];

/**
 * A short answer in each format with reasoning, a word, a tool call and usage: its records, and the text that marks it
 * complete.
 */
export const SHORT: Readonly<Record<ProtocolName, { readonly records: readonly string[]; readonly whole: string }>> = {
  chat: {
    records: [
      chunk({ role: 'assistant', content: '' }),
      chunk({ reasoning_content: 'Hm' }),
      chunk({ content: 'Ah é' }),
      chunk({ tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'f', arguments: '' } }] }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: '{"a":' } }] }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: '1}' } }] }),
      chunk({}, 'tool_calls'),
      `data: ${JSON.stringify({ id: 'c', choices: [], usage: { prompt_tokens: 3, completion_tokens: 4 } })}\n\n`,
      'data: [DONE]\n\n',
    ],
    whole: '"finish_reason":"tool_calls"',
  },
  messages: {
    records: [
      event('message_start', {
        message: { id: 'm', type: 'message', role: 'assistant', content: [], usage: { input_tokens: 3 } },
      }),
      ...part(
        0,
        { type: 'thinking', thinking: '' },
        { type: 'thinking_delta', thinking: 'Hm' },
        { type: 'signature_delta', signature: 'QQ==' },
      ),
      ...part(1, { type: 'text', text: '' }, { type: 'text_delta', text: 'Ah é' }),
      ...part(
        2,
        { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} },
        { type: 'input_json_delta', partial_json: '{"a":' },
        { type: 'input_json_delta', partial_json: '1}' },
      ),
      event('message_delta', { delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 4 } }),
      event('message_stop'),
    ],
    whole: '"type":"message_stop"',
  },
};
