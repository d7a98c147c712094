/** Serves Responses like a host that keeps state: fresh ids, and the routes of stored responses. Notes what it is sent. */

export interface Served {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly credential: string;
  readonly body: { readonly [member: string]: unknown };
}

export interface StoredUpstream {
  readonly url: string;
  readonly served: Served[];
  /** The status of the answers to POST that follow; 200: an answer. */
  failWith: number;
  /** The answer to requests about stored responses whose path ends so; null: as usual. */
  missing: { readonly end: string; readonly body: string } | null;
  stop(): void;
}

const USAGE = {
  input_tokens: 11,
  input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
  output_tokens: 3,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 14,
};

interface Sound {
  readonly id: string;
  readonly data: string;
  readonly expires_at: number;
}

function soundDeltas({ id, data, expires_at }: Sound): object[] {
  return [{ id, transcript: 'Hello' }, { data }, { expires_at }];
}

/** As OpenAI streams sound: the id first, the expiry last. */
function chatStream(usage: object, audio?: Sound): Response {
  const chunk = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'm' };
  const chunks = [
    { ...chunk, choices: [{ index: 0, delta: { role: 'assistant', content: 'Hello' }, finish_reason: null }] },
    ...(audio === undefined ? [] : soundDeltas(audio)).map((delta) => ({
      ...chunk,
      choices: [{ index: 0, delta: { audio: delta }, finish_reason: null }],
    })),
    { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
    { ...chunk, choices: [], usage },
  ];
  const records = chunks.map((one) => `data: ${JSON.stringify(one)}\n\n`);
  return new Response(`${records.join('')}data: [DONE]\n\n`, { headers: { 'content-type': 'text/event-stream' } });
}

export function startStoredUpstream(): StoredUpstream {
  let count = 0;
  const served: Served[] = [];
  const upstream: Pick<StoredUpstream, 'served' | 'failWith' | 'missing'> = { served, failWith: 200, missing: null };

  function answer(body: Served['body']): Response {
    count += 1;
    const item = {
      id: `msg_${count}`,
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'Hello', annotations: [] }],
    };
    const ran = {
      id: `ci_${count}`,
      type: 'code_interpreter_call',
      status: 'completed',
      code: '1',
      container_id: `cntr_${count}`,
    };
    const response = {
      id: `resp_${count}`,
      object: 'response',
      created_at: 1_800_000_000,
      model: body.model,
      status: 'completed',
      output: [item, ran],
      store: body.store ?? true,
      usage: USAGE,
    };
    if (body.stream !== true) return Response.json(response);
    const open = { ...response, status: 'in_progress', output: [], usage: null };
    const events = [
      { type: 'response.created', response: open },
      ...[item, ran].flatMap((one, output_index) => [
        { type: 'response.output_item.added', output_index, item: one },
        { type: 'response.output_item.done', output_index, item: one },
      ]),
      { type: 'response.completed', response },
    ];
    const text = events.map(
      (event, at) => `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number: at })}\n\n`,
    );
    return new Response(text.join(''), { headers: { 'content-type': 'text/event-stream' } });
  }

  /** Its id is that of no other answer. A request for some voices gets one that has expired, or that expires at no time. */
  function soundFor({ audio }: Served['body']): Sound {
    count += 1;
    const { voice } = audio as { voice: string };
    const expires_at = voice === 'gone' ? 1_700_000_000 : voice === 'odd' ? -1e300 : 4_000_000_000;
    return { id: `audio_${count}`, data: 'aGk=', expires_at };
  }

  /** The messages of the user as they came, with their ids. */
  function compaction({ input }: Served['body']): Response {
    count += 1;
    const made = { id: `cmp_${count}`, type: 'compaction', encrypted_content: 'sealed' };
    const output = [...(input as object[]), made];
    return Response.json({ id: `resp_${count}`, object: 'response.compaction', created_at: 1, output, usage: USAGE });
  }

  /** Code ran in a container, and made a file there. */
  function message(body: Served['body']): Response {
    count += 1;
    const file = { type: 'bash_code_execution_output', file_id: `file_${count}` };
    const result = { type: 'bash_code_execution_result', stdout: '', stderr: '', return_code: 0, content: [file] };
    const content = [
      { type: 'bash_code_execution_tool_result', tool_use_id: 'srvtoolu_1', content: result },
      { type: 'text', text: 'Hello' },
    ];
    const container = { id: `container_${count}`, expires_at: '2030-01-01T00:00:00Z' };
    const head = { id: `msg_${count}`, type: 'message', role: 'assistant', model: body.model };
    const usage = { input_tokens: 11, output_tokens: 3 };
    const end = { stop_reason: 'end_turn', stop_sequence: null, container };
    if (body.stream !== true) return Response.json({ ...head, content, ...end, usage });
    const events = [
      { type: 'message_start', message: { ...head, content: [], stop_reason: null, stop_sequence: null, usage } },
      ...content.flatMap((content_block, index) => [
        { type: 'content_block_start', index, content_block },
        { type: 'content_block_stop', index },
      ]),
      { type: 'message_delta', delta: end, usage: { output_tokens: 3 } },
      { type: 'message_stop' },
    ];
    const text = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    return new Response(text.join(''), { headers: { 'content-type': 'text/event-stream' } });
  }

  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      const text = await request.text();
      const body = text === '' ? {} : JSON.parse(text);
      const credential = request.headers.get('authorization')?.replace('Bearer ', '') ?? '';
      served.push({ method: request.method, path: pathname + search, credential, body });
      if (pathname.endsWith('/responses')) {
        if (upstream.failWith === 200) return answer(body);
        return Response.json({ error: { message: 'no', type: 'server_error' } }, { status: upstream.failWith });
      }
      if (pathname.endsWith('/responses/compact')) return compaction(body);
      if (pathname === '/v1/messages') return message(body);
      if (pathname === '/v1/chat/completions') {
        const audio = body.modalities === undefined ? undefined : soundFor(body);
        const message = { role: 'assistant', content: 'Hello', audio };
        const choices = [{ index: 0, message, finish_reason: 'stop' }];
        const usage = { prompt_tokens: 11, completion_tokens: 3, total_tokens: 14 };
        if (body.stream === true) return chatStream(usage, audio);
        return Response.json({ id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'm', choices, usage });
      }
      const { missing } = upstream;
      if (missing !== null && pathname.endsWith(missing.end)) return new Response(missing.body, { status: 404 });
      const id = pathname.split('/')[3];
      if (request.method === 'DELETE') return Response.json({ id, object: 'response', deleted: true });
      if (pathname.endsWith('/input_items')) return Response.json({ object: 'list', data: [], has_more: false });
      if (pathname.endsWith('/gone')) return Response.json({ error: { message: 'not found' } }, { status: 404 });
      return Response.json({ id, object: 'response', status: 'completed', output: [] });
    },
  });
  return Object.assign(upstream, {
    url: `http://127.0.0.1:${server.port}/v1`,
    stop: () => void server.stop(true),
  });
}
