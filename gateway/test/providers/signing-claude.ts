/**
 * Plays Claude with extended thinking in a tool loop, wherever it is hosted: each answer begins with signed thinking, and
 * a request whose history lacks or changes a signature that was given out is refused as the real one refuses it.
 */
import { createHmac } from 'node:crypto';
import { LOOP_TURNS } from './tool-loop.ts';

interface Block {
  readonly type: string;
  readonly [member: string]: unknown;
}

interface MessagesBody {
  readonly messages: ReadonlyArray<{ readonly role: string; readonly content: string | readonly Block[] }>;
  readonly [member: string]: unknown;
}

export interface ClaudeAnswer {
  readonly status: number;
  /** A message, or an error in Anthropic's shape. */
  readonly body: { readonly [member: string]: unknown };
}

/** Answers the requests of one conversation; `refusals` are the words of those that were refused. */
export function createSigningClaude(model: string) {
  const refusals: string[] = [];
  return {
    refusals,
    answer(body: MessagesBody): ClaudeAnswer {
      const turns = body.messages.filter(({ role }) => role === 'assistant');
      const fault = turns.map(({ content }, index) => faultOf(content, index)).find((one) => one !== null);
      if (fault !== undefined) {
        refusals.push(fault);
        const error = { type: 'invalid_request_error', message: fault };
        return { status: 400, body: { type: 'error', error } };
      }
      return { status: 200, body: renderMessage(model, turns.length) };
    },
  };
}

function thoughtOf(turn: number): Block {
  const thinking = `Thought ${turn} 🤔`;
  return { type: 'thinking', thinking, signature: createHmac('sha256', 'claude').update(thinking).digest('base64') };
}

function callOf(turn: number): Block {
  return { type: 'tool_use', id: `toolu_${turn}`, name: 'look', input: { place: `p${turn}` } };
}

function faultOf(content: string | readonly Block[], turn: number): string | null {
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  const [first] = blocks;
  const path = `messages.${turn * 2 + 1}.content.0`;
  if (first?.type !== 'thinking') {
    return `${path}.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${first?.type}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block`;
  }
  return first.signature === thoughtOf(turn).signature && first.thinking === thoughtOf(turn).thinking
    ? null
    : `${path}: Invalid \`signature\` in \`thinking\` block`;
}

function renderMessage(model: string, turn: number) {
  const isLast = turn >= LOOP_TURNS;
  const said: Block = isLast ? { type: 'text', text: 'All looked at.' } : callOf(turn);
  return {
    id: `msg_${turn}`,
    type: 'message',
    role: 'assistant',
    model,
    content: [thoughtOf(turn), said],
    stop_reason: isLast ? 'end_turn' : 'tool_use',
    stop_sequence: null,
    usage: { input_tokens: 10 + turn, output_tokens: 5 },
  };
}

/** The events of a message's stream, in order. */
export function eventsOf(message: ClaudeAnswer['body']): ReadonlyArray<{ readonly type: string }> {
  const { content, stop_reason, usage, ...rest } = message as unknown as ReturnType<typeof renderMessage>;
  const start = { ...rest, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } };
  return [
    { type: 'message_start', message: start } as { type: string },
    ...content.flatMap((block, index) => blockEvents(block, index)),
    { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage } as { type: string },
    { type: 'message_stop' },
  ];
}

function blockEvents(block: Block, index: number): Array<{ readonly type: string }> {
  const [empty, deltas] =
    block.type === 'thinking'
      ? [
          { type: 'thinking', thinking: '', signature: '' },
          [
            { type: 'thinking_delta', thinking: block.thinking },
            { type: 'signature_delta', signature: block.signature },
          ],
        ]
      : block.type === 'tool_use'
        ? [{ ...block, input: {} }, [{ type: 'input_json_delta', partial_json: JSON.stringify(block.input) }]]
        : [{ type: 'text', text: '' }, [{ type: 'text_delta', text: block.text }]];
  return [
    { type: 'content_block_start', index, content_block: empty } as { type: string },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta }) as { type: string }),
    { type: 'content_block_stop', index } as { type: string },
  ];
}

/** Events as Anthropic's server-sent events. */
export function renderSse(events: ReadonlyArray<{ readonly type: string }>): string {
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
}
