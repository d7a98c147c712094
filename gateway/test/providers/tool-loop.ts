/**
 * Plays clients of a gateway: one request, and a tool loop as a client of each format runs it, plain or streamed, which
 * returns what it was told.
 */
import type { RunningGateway } from '../harness/start-gateway.ts';

/** The answer of each turn: the ids of its calls, and its text. */
export interface LoopTurn {
  readonly calls: readonly string[];
  readonly text: string;
}

interface LoopPlan {
  readonly gateway: Pick<RunningGateway, 'url' | 'key'>;
  readonly model: string;
  readonly stream: boolean;
  /** Sends `reasoning_content` back as it came, as hosts with open reasoning ask their clients to. */
  readonly returnsReasoning?: true;
}

/** Turns with a tool call before the answer in text. */
export const LOOP_TURNS = 10;
const TURNS_MAX = 20;

/** The instruction for a loop of one call per turn. `name`: of the calls, before the number of the turn. */
export function loopTold(name: string): LoopTurn[] {
  const turns = Array.from({ length: LOOP_TURNS }, (_, turn) => ({ calls: [`${name}_${turn}`], text: '' }));
  return [...turns, { calls: [], text: 'All looked at.' }];
}

/** The rows of a test that runs every loop. */
export const LOOPS = [
  ['messages', false, loopOverMessages],
  ['messages', true, loopOverMessages],
  ['chat', false, loopOverChat],
  ['chat', true, loopOverChat],
  ['responses', false, loopOverResponses],
  ['responses', true, loopOverResponses],
] as const;

/** Sends a request with the gateway's key. */
export function ask(
  { url, key }: LoopPlan['gateway'],
  path: string,
  body: object,
  given: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...given };
  return fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
}

const SCHEMA = { type: 'object', properties: { place: { type: 'string' } } };

/** As a client of messages: it sends back each answer's content as it came. */
export async function loopOverMessages({ gateway, model, stream }: LoopPlan): Promise<LoopTurn[]> {
  const messages: object[] = [{ role: 'user', content: 'Look everywhere.' }];
  return loop(async () => {
    const thinking = { type: 'enabled', budget_tokens: 1_024 };
    const tools = [{ name: 'look', input_schema: SCHEMA }];
    const text = await post(gateway, '/v1/messages', { model, max_tokens: 4_000, thinking, stream, tools, messages });
    const content = stream ? foldMessage(readEvents<MessageEvent>(text)) : (JSON.parse(text).content as MessageBlock[]);
    messages.push({ role: 'assistant', content });
    const calls = content.filter(({ type }) => type === 'tool_use').map(({ id }) => String(id));
    messages.push({
      role: 'user',
      content: calls.map((id) => ({ type: 'tool_result', tool_use_id: id, content: 'seen' })),
    });
    return { calls, text: content.map((block) => block.text ?? '').join('') };
  });
}

/** As a client of chat completions: it has no place for signatures, and usually sends back text and calls only. */
export async function loopOverChat({ gateway, model, stream, returnsReasoning }: LoopPlan): Promise<LoopTurn[]> {
  const messages: object[] = [{ role: 'user', content: 'Look everywhere.' }];
  return loop(async () => {
    const tools = [{ type: 'function', function: { name: 'look', parameters: SCHEMA } }];
    const body = { model, stream, reasoning_effort: 'low', tools, messages };
    const text = await post(gateway, '/v1/chat/completions', body);
    const { content, tool_calls, reasoning_content } = stream
      ? foldChat(readEvents<ChatChunk>(text))
      : JSON.parse(text).choices[0].message;
    const reasoning = returnsReasoning === true ? { reasoning_content } : {};
    messages.push({ role: 'assistant', content, tool_calls, ...reasoning });
    const calls = ((tool_calls ?? []) as Array<{ readonly id: string }>).map(({ id }) => id);
    for (const tool_call_id of calls) messages.push({ role: 'tool', tool_call_id, content: 'seen' });
    return { calls, text: content ?? '' };
  });
}

/**
 * As a client of Responses that stores nothing: it sends every item back, as Codex does, with ids of its own for the calls,
 * so that only the items' own content can return a signature.
 */
export async function loopOverResponses({ gateway, model, stream }: LoopPlan): Promise<LoopTurn[]> {
  const input: object[] = [{ role: 'user', content: 'Look everywhere.' }];
  return loop(async () => {
    const tools = [{ type: 'function', name: 'look', parameters: SCHEMA, strict: false }];
    const include = ['reasoning.encrypted_content'];
    const body = { model, stream, store: false, include, reasoning: { effort: 'low' }, tools, input };
    const text = await post(gateway, '/v1/responses', body);
    const items = stream
      ? readEvents<ItemEvent>(text).flatMap(({ type, item }) =>
          type === 'response.output_item.done' && item !== undefined ? [item] : [],
        )
      : (JSON.parse(text).output as Item[]);
    for (const item of items)
      input.push(item.call_id === undefined ? item : { ...item, call_id: `own_${item.call_id}` });
    const calls = items.flatMap(({ call_id }) => (call_id === undefined ? [] : [call_id]));
    for (const id of calls) input.push({ type: 'function_call_output', call_id: `own_${id}`, output: 'seen' });
    return { calls, text: items.map(({ content }) => content?.map(({ text }) => text).join('') ?? '').join('') };
  });
}

interface Item {
  readonly call_id?: string;
  readonly content?: ReadonlyArray<{ readonly text: string }>;
}

interface ItemEvent {
  readonly type: string;
  readonly item?: Item;
}

async function loop(turn: () => Promise<LoopTurn>): Promise<LoopTurn[]> {
  const turns: LoopTurn[] = [];
  for (let next = await turn(); ; next = await turn()) {
    turns.push(next);
    if (next.calls.length === 0) return turns;
    if (turns.length > TURNS_MAX) throw new Error('the loop does not end');
  }
}

async function post(gateway: LoopPlan['gateway'], path: string, body: object): Promise<string> {
  const answer = await ask(gateway, path, body);
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}: ${text}`);
  return text;
}

function readEvents<Event>(text: string): Event[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('data: ') && line !== 'data: [DONE]')
    .map((line) => JSON.parse(line.slice(6)) as Event);
}

interface MessageBlock {
  readonly type: string;
  readonly id?: string;
  readonly text?: string;
  readonly [member: string]: unknown;
}

interface MessageEvent {
  readonly type: string;
  readonly index: number;
  readonly content_block?: MessageBlock;
  readonly delta?: { readonly type: string; readonly [member: string]: string };
}

/** Where each delta is appended. */
const MEMBERS: Readonly<Record<string, readonly [from: string, to: string]>> = {
  input_json_delta: ['partial_json', 'json'],
  signature_delta: ['signature', 'signature'],
  thinking_delta: ['thinking', 'thinking'],
  text_delta: ['text', 'text'],
};

function foldMessage(events: readonly MessageEvent[]): MessageBlock[] {
  const blocks: MessageBlock[] = [];
  for (const { type, index, content_block, delta } of events) {
    if (type === 'content_block_start' && content_block !== undefined) blocks[index] = content_block;
    if (type !== 'content_block_delta' || delta === undefined) continue;
    const [from = '', to = ''] = MEMBERS[delta.type] ?? [];
    const block = blocks[index] ?? { type: '' };
    blocks[index] = { ...block, [to]: `${block[to] ?? ''}${delta[from]}` };
  }
  return blocks.map(({ json, ...block }) =>
    json === undefined ? (block as MessageBlock) : ({ ...block, input: JSON.parse(String(json)) } as MessageBlock),
  );
}

interface ChatCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}

interface ChatChunk {
  readonly choices: ReadonlyArray<{
    readonly delta: {
      readonly content?: string | null;
      readonly reasoning_content?: string;
      readonly tool_calls?: ReadonlyArray<Partial<ChatCall> & { readonly index: number }>;
    };
  }>;
}

function foldChat(chunks: readonly ChatChunk[]) {
  let content = '';
  let reasoning_content = '';
  const calls: ChatCall[] = [];
  for (const { choices } of chunks) {
    const delta = choices[0]?.delta;
    content += delta?.content ?? '';
    reasoning_content += delta?.reasoning_content ?? '';
    for (const { index, id = '', function: said } of delta?.tool_calls ?? []) {
      const call = calls[index] ?? { id, type: 'function', function: { name: said?.name ?? '', arguments: '' } };
      const joined = call.function.arguments + (said?.arguments ?? '');
      calls[index] = { ...call, function: { ...call.function, arguments: joined } };
    }
  }
  return {
    content: content === '' ? null : content,
    tool_calls: calls.length === 0 ? undefined : calls,
    reasoning_content,
  };
}
