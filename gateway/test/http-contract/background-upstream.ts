/** Serves Responses like a host that makes them in the background: each goes on until a test ends it. */

export type BackgroundState = 'queued' | 'in_progress' | 'completed' | 'failed' | 'cancelled' | 'gone';

export interface BackgroundUpstream {
  readonly url: string;
  /** Method and path with the query of every request. */
  readonly served: string[];
  /** Ids of the responses, in order. */
  readonly ids: string[];
  /** Changes a response, and ends its streams if it has ended. */
  become(id: string, state: BackgroundState): void;
  /** Breaks every stream once its first events came. */
  breaksEarly: boolean;
  /** Breaks the streams of a response that goes on. */
  breakStreams(id: string): void;
  /** The status of answers to GET; 200: the response. */
  getStatus: number;
  /** Members of responses that have ended. */
  ended: object;
  /** The body of a 404. */
  missing: object;
  stop(): void;
}

const USAGE = {
  input_tokens: 11,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 3,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 14,
};

interface Made {
  state: BackgroundState;
  readonly model: unknown;
  readonly store: unknown;
  /** Continue the streams of the response. */
  readonly waiting: Set<() => void>;
  readonly streams: Set<ReadableStreamDefaultController<Uint8Array>>;
}

const EVENTS = { 'content-type': 'text/event-stream' };

export function startBackgroundUpstream(): BackgroundUpstream {
  const made = new Map<string, Made>();
  const [served, ids]: [string[], string[]] = [[], []];
  const missing: object = { error: { message: 'not found', type: 'invalid_request_error' } };
  const upstream = { served, ids, getStatus: 200, ended: {} as object, missing, breaksEarly: false };

  function objectOf(id: string): object {
    const { state, model, store } = made.get(id) as Made;
    const base = { id, object: 'response', created_at: 1_800_000_000, model, background: true, store, output: [] };
    if (state === 'queued' || state === 'in_progress') return { ...base, status: state, usage: null };
    if (state === 'failed') {
      return { ...base, status: state, usage: null, error: { code: 'server_error', message: 'it broke' } };
    }
    if (state === 'cancelled') return { ...base, status: state, usage: null };
    const content = [{ type: 'output_text', text: 'Hello', annotations: [] }];
    const item = { id: `msg_${id}`, type: 'message', role: 'assistant', status: 'completed', content };
    return { ...base, status: state, output: [item], usage: USAGE, ...upstream.ended };
  }

  /** The events from number `after` on. Those of the end come when the response has ended. */
  function streamOf(id: string, after: number): Response {
    const one = made.get(id) as Made;
    const record = (event: { type: string; [member: string]: unknown }) =>
      `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
    const text = new TextEncoder();
    const body = new ReadableStream<Uint8Array>({
      async start(controller) {
        one.streams.add(controller);
        const first = ['created', 'queued'].map((name, at) => ({
          type: `response.${name}`,
          sequence_number: at,
          response: { ...objectOf(id), status: 'queued', output: [], usage: null },
        }));
        for (const event of first) if (event.sequence_number > after) controller.enqueue(text.encode(record(event)));
        if (upstream.breaksEarly) {
          // The runtime would answer with an error in place of events that were not sent yet.
          await Bun.sleep(20);
          throw new Error('the stream was broken');
        }
        if (one.state === 'queued' || one.state === 'in_progress') {
          await new Promise<void>((resolve) => {
            one.waiting.add(resolve);
          });
        }
        const response = objectOf(id) as { readonly output: object[] };
        const [item] = response.output;
        const place = { output_index: 0, item };
        if (item !== undefined) {
          controller.enqueue(text.encode(record({ type: 'response.output_item.added', sequence_number: 2, ...place })));
          controller.enqueue(text.encode(record({ type: 'response.output_item.done', sequence_number: 3, ...place })));
        }
        const end = one.state === 'failed' ? 'response.failed' : 'response.completed';
        controller.enqueue(text.encode(record({ type: end, sequence_number: 4, response })));
        controller.close();
      },
    });
    return new Response(body, { headers: EVENTS });
  }

  async function create(request: Request): Promise<Response> {
    const body = (await request.json()) as { stream?: boolean; model: string; store?: boolean };
    const id = `resp_${made.size + 1}`;
    made.set(id, {
      state: 'queued',
      model: body.model,
      store: body.store ?? true,
      waiting: new Set(),
      streams: new Set(),
    });
    ids.push(id);
    return body.stream === true ? streamOf(id, -1) : Response.json(objectOf(id));
  }

  function become(id: string, state: BackgroundState): void {
    const one = made.get(id) as Made;
    one.state = state;
    if (state === 'queued' || state === 'in_progress') return;
    for (const goOn of one.waiting) goOn();
    one.waiting.clear();
  }

  function breakStreams(id: string): void {
    const { streams } = made.get(id) as Made;
    for (const stream of streams) stream.error(new Error('the stream was broken'));
    streams.clear();
  }

  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const { pathname, search, searchParams } = new URL(request.url);
      served.push(`${request.method} ${pathname}${search}`);
      const [, , , id = '', below = ''] = pathname.split('/');
      if (request.method === 'POST' && id === '') return create(request);
      const one = made.get(id);
      if (one === undefined || one.state === 'gone') return Response.json(upstream.missing, { status: 404 });
      if (below === 'cancel') {
        become(id, 'cancelled');
        return Response.json(objectOf(id));
      }
      if (request.method === 'DELETE') {
        become(id, 'gone');
        return Response.json({ id, object: 'response', deleted: true });
      }
      if (upstream.getStatus !== 200) {
        return Response.json({ error: { message: 'no', type: 'server_error' } }, { status: upstream.getStatus });
      }
      if (searchParams.get('stream') === 'true') return streamOf(id, Number(searchParams.get('starting_after') ?? -1));
      return Response.json(objectOf(id));
    },
  });
  return Object.assign(upstream, {
    url: `http://127.0.0.1:${server.port}/v1`,
    become,
    breakStreams,
    stop: () => void server.stop(true),
  });
}
