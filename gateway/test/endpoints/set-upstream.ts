/** Starts an upstream whose answers a test sets by model, for formats that the fake upstream does not speak. */

/** What a model answers; a body that is an object is sent as JSON. */
export interface SetAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: Uint8Array | string | object;
  /** The answer stays open after its body. */
  readonly stays?: boolean;
}

/** A request as it arrived. */
export interface Arrived {
  readonly path: string;
  readonly headers: Headers;
  readonly body: Buffer;
}

export interface SetUpstream {
  readonly url: string;
  answer(model: string, answer: SetAnswer): void;
  /** The requests for a model, in order. */
  served(model: string): readonly Arrived[];
  stop(): Promise<void>;
}

/** Names the model of a request. Default: the member `model` of its JSON body. */
export type NameModel = (request: Arrived) => string;

export function startSetUpstream(nameModel: NameModel = modelInBody): SetUpstream {
  const answers = new Map<string, SetAnswer>();
  const arrived = new Map<string, Arrived[]>();
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      const body = Buffer.from(await request.arrayBuffer());
      const one = { path: pathname + search, headers: request.headers, body };
      const model = nameModel(one);
      arrived.set(model, [...(arrived.get(model) ?? []), one]);
      const found: SetAnswer = answers.get(model) ?? { status: 404, body: { error: 'unset' } };
      const { status = 200, headers, body: answer, stays = false } = found;
      const isRaw = typeof answer === 'string' || answer instanceof Uint8Array;
      const sent = isRaw ? new Uint8Array(Buffer.from(answer as string)) : JSON.stringify(answer);
      return new Response(stays ? openStream(sent) : sent, {
        status,
        headers: { 'content-type': 'application/json', ...headers },
      });
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    answer: (model, answer) => answers.set(model, answer),
    served: (model) => arrived.get(model) ?? [],
    stop: () => server.stop(true),
  };
}

function openStream(sent: Uint8Array | string): ReadableStream {
  return new ReadableStream({ start: (stream) => stream.enqueue(sent) });
}

function modelInBody({ body }: Arrived): string {
  try {
    return String((JSON.parse(body.toString()) as { readonly model?: unknown }).model);
  } catch {
    return '';
  }
}
