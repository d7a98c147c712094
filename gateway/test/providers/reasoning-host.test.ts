/**
 * Tests a tool loop with open reasoning at a chat host that refuses a history without it, as DeepSeek does
 * (https://api-docs.deepseek.com/guides/thinking_mode, 2026-11-22), from clients of all formats.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { type RunningGateway, startGateway } from '../harness/start-gateway.ts';
import { LOOP_TURNS, LOOPS, loopOverChat, loopTold } from './tool-loop.ts';

const thoughtOf = (turn: number) => `Thought ${turn} 🤔`;

interface ChatTurn {
  readonly role: string;
  readonly reasoning_content?: unknown;
  readonly tool_calls?: unknown;
}

let refusals: string[] = [];
let host: Bun.Server<undefined>;
let gateway: RunningGateway;

beforeAll(async () => {
  host = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: answer });
  gateway = await startGateway({
    config: {
      defaults: { routing: { max_extra_attempts: 0 } },
      providers: {
        moonshot: {
          kind: 'openai-compatible',
          preset: 'moonshot',
          base_url: `http://127.0.0.1:${host.port}`,
          api_key: 'none',
        },
      },
      models: {
        reasoner: {
          targets: [{ provider: 'moonshot', model: 'kimi-thinking' }],
          price: { input: 1, output: 5 },
          capabilities: { reasoning: true },
        },
      },
    },
  });
});
afterAll(async () => {
  await gateway.stop();
  await host.stop(true);
});
beforeEach(() => {
  refusals = [];
});

async function answer(request: Request): Promise<Response> {
  const { messages, stream } = (await request.json()) as { messages: ChatTurn[]; stream?: boolean };
  const turns = messages.filter(({ role }) => role === 'assistant');
  const wrong = turns.findIndex(({ reasoning_content }, turn) => reasoning_content !== thoughtOf(turn));
  if (wrong !== -1) {
    const message = `Missing or altered \`reasoning_content\` in the assistant message ${wrong}.`;
    refusals.push(message);
    return Response.json({ error: { message, type: 'invalid_request_error' } }, { status: 400 });
  }
  const turn = turns.length;
  const call = {
    index: 0,
    id: `call_${turn}`,
    type: 'function',
    function: { name: 'look', arguments: `{"place":"p${turn}"}` },
  };
  const said = turn < LOOP_TURNS ? { content: null, tool_calls: [call] } : { content: 'All looked at.' };
  const message = { role: 'assistant', reasoning_content: thoughtOf(turn), ...said };
  const finish_reason = turn < LOOP_TURNS ? 'tool_calls' : 'stop';
  const usage = { prompt_tokens: 10, completion_tokens: 9, total_tokens: 19 };
  const head = { id: `c${turn}`, created: 1, model: 'kimi-thinking' };
  if (stream !== true) {
    const choices = [{ index: 0, message, finish_reason }];
    return Response.json({ ...head, object: 'chat.completion', choices, usage });
  }
  const { reasoning_content, ...rest } = message;
  const deltas = [
    { role: 'assistant', reasoning_content: reasoning_content.slice(0, 4) },
    { reasoning_content: reasoning_content.slice(4) },
    rest,
  ];
  const chunk = (delta: object, reason: string | null) =>
    `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: reason }], ...(reason === null ? {} : { usage }) })}\n\n`;
  const text = `${deltas.map((delta) => chunk(delta, null)).join('')}${chunk({}, finish_reason)}data: [DONE]\n\n`;
  return new Response(text, { headers: { 'content-type': 'text/event-stream' } });
}

describe('a tool loop of ten turns with open reasoning', () => {
  test.each(LOOPS)('is never refused from %s, streamed: %p', async (_, stream, loop) => {
    expect(await loop({ gateway, model: 'reasoner', stream, returnsReasoning: true })).toEqual(loopTold('call'));
    expect(refusals).toEqual([]);
  });

  test('is refused where a chat client leaves the reasoning out', async () => {
    await expect(loopOverChat({ gateway, model: 'reasoner', stream: false })).rejects.toThrow('reasoning_content');
    expect(refusals).toHaveLength(1);
  });
});
