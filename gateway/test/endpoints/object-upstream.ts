/** Keeps files and conversations like a provider: fresh ids, objects, bytes. Notes what it is sent. */
import { createHash } from 'node:crypto';

export interface ServedObject {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly credential: string;
  readonly headers: Headers;
  /** The body as text; of a form, its SHA-256 and length. */
  readonly body: string;
}

export interface ObjectUpstream {
  readonly url: string;
  readonly served: ServedObject[];
  /** The answer to all requests that follow; null: as a provider does. */
  failWith: { readonly status: number; readonly body: string } | null;
  /** The members of the next file, beyond the usual ones. */
  next: object;
  stop(): void;
}

/** The content of every file. */
export const FILE_BYTES = Buffer.from('<script>the content</script>');

async function describe(request: Request): Promise<string> {
  const isForm = request.headers.get('content-type')?.startsWith('multipart/') === true;
  if (!isForm) return request.text();
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of request.body ?? []) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  return `${hash.digest('hex')} ${bytes}`;
}

export function startObjectUpstream(): ObjectUpstream {
  let count = 0;
  const served: ServedObject[] = [];
  const upstream: Pick<ObjectUpstream, 'failWith' | 'next'> = { failWith: null, next: {} };

  function answer(method: string, path: string, isAnthropic: boolean): Response {
    const [, , collection = '', id, below, item] = path.split('/');
    if (collection === 'responses') {
      count += 1;
      const usage = { input_tokens: 11, output_tokens: 3, total_tokens: 14 };
      const response = { id: `resp_${count}`, object: 'response', status: 'completed', model: 'm', output: [], usage };
      return Response.json(
        path.endsWith('/input_tokens') ? { object: 'response.input_tokens', input_tokens: 7 } : response,
      );
    }
    if (collection === 'messages') {
      const head = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', stop_reason: 'end_turn' };
      const usage = { input_tokens: 11, output_tokens: 3 };
      // Code ran in a container, and made a file there.
      count += 1;
      const file = { type: 'bash_code_execution_output', file_id: `file_made_${count}` };
      const result = { type: 'bash_code_execution_result', stdout: '', stderr: '', return_code: 0, content: [file] };
      const content = [
        { type: 'bash_code_execution_tool_result', tool_use_id: 'srvtoolu_1', content: result },
        { type: 'text', text: 'Hello' },
      ];
      const container = { id: `container_${count}`, expires_at: '2030-01-01T00:00:00Z' };
      return Response.json({ ...head, content, stop_sequence: null, container, usage });
    }
    if (collection === 'chat') {
      const choices = [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }];
      const usage = { prompt_tokens: 11, completion_tokens: 3, total_tokens: 14 };
      return Response.json({ id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'm', choices, usage });
    }
    if (id === 'gone') return Response.json({ error: { message: 'No such file object: gone' } }, { status: 404 });
    if (below === 'content') return new Response(FILE_BYTES, { headers: { 'content-type': 'text/html' } });
    if (below === 'items') return Response.json({ object: 'list', data: item === undefined ? [] : [{ id: item }] });
    if (method === 'DELETE') return Response.json({ id, object: collection, deleted: true });
    if (id !== undefined) return Response.json({ id, object: collection });
    count += 1;
    if (collection === 'conversations')
      return Response.json({ id: `conv_${count}`, object: 'conversation', metadata: {} });
    if (isAnthropic) return Response.json({ id: `file_${count}`, type: 'file', filename: 'a.txt', ...upstream.next });
    return Response.json({
      id: `file-${count}`,
      object: 'file',
      filename: 'a.txt',
      purpose: 'user_data',
      ...upstream.next,
    });
  }

  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      const { headers, method } = request;
      const credential = headers.get('authorization')?.replace('Bearer ', '') ?? headers.get('x-api-key') ?? '';
      served.push({ method, path: pathname + search, credential, headers, body: await describe(request) });
      const { failWith } = upstream;
      if (failWith !== null) {
        return new Response(failWith.body, {
          status: failWith.status,
          headers: { 'content-type': 'application/json' },
        });
      }
      return answer(method, pathname, headers.has('x-api-key'));
    },
  });
  return Object.assign(upstream, {
    served,
    url: `http://127.0.0.1:${server.port}/v1`,
    stop: () => void server.stop(true),
  });
}
