/** Serves files and batches like OpenAI and Anthropic; the test says when a batch ends, and how. Notes what it is sent. */

export interface BatchEnd {
  readonly status: string;
  /** Lines of the output, and at OpenAI of the errors. */
  readonly output?: readonly object[];
  readonly errors?: readonly object[];
  /** Overrides members of the object. */
  readonly members?: object;
}

export interface BatchUpstream {
  readonly url: string;
  /** `GET /v1/batches/batch_1 credential`, in their order. */
  readonly served: string[];
  /** Answers the next creation with this status. */
  refuseNext: number;
  /** Answers creations that succeed with this status. */
  createdStatus: number;
  /** Answers cancellations like OpenAI for a batch that has ended. */
  refusesCancel: boolean;
  /** Ends a batch. */
  end(id: string, end: BatchEnd): void;
  /** Hides a batch, as from a credential of another account. Returns the function that shows it again. */
  hide(id: string): () => void;
  stop(): void;
}

type Batch = Record<string, unknown>;

export function startBatchUpstream(): BatchUpstream {
  const served: string[] = [];
  const files = new Map<string, string>();
  const batches = new Map<string, Batch>();
  const results = new Map<string, string>();
  let count = 0;
  const next = (prefix: string) => {
    count += 1;
    return `${prefix}${count}`;
  };
  const linesOf = (lines: readonly object[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  const missing = () => Response.json({ error: { message: 'no such object', type: 'not_found' } }, { status: 404 });
  const upstream = {
    served,
    refuseNext: 200,
    createdStatus: 200,
    refusesCancel: false,
    end(id: string, { status, output = [], errors = [], members }: BatchEnd) {
      const batch = batches.get(id);
      if (batch === undefined) throw new Error(`there is no batch ${id}`);
      if (id.startsWith('msgbatch_')) {
        results.set(id, linesOf(output));
        Object.assign(batch, {
          processing_status: status,
          results_url: `${upstream.url}/messages/batches/${id}/results`,
        });
        Object.assign(batch, { request_counts: { processing: 0, succeeded: output.length } }, members);
        return;
      }
      const keep = (lines: readonly object[]) => {
        if (lines.length === 0) return null;
        const file = next('file-out-');
        files.set(file, linesOf(lines));
        return file;
      };
      const counts = { total: output.length + errors.length, completed: output.length, failed: errors.length };
      const made = { output_file_id: keep(output), error_file_id: keep(errors), request_counts: counts };
      Object.assign(batch, { status, ...made }, members);
    },
    hide(id: string) {
      const batch = batches.get(id);
      if (batch === undefined) throw new Error(`there is no batch ${id}`);
      batches.delete(id);
      return () => void batches.set(id, batch);
    },
    url: '',
    stop: () => void server.stop(true),
  };

  async function create(request: Request): Promise<Response> {
    const body = (await request.json()) as Batch;
    const status = upstream.refuseNext;
    upstream.refuseNext = 200;
    if (status !== 200) return Response.json({ error: { message: 'no batch for you', type: 'invalid' } }, { status });
    const batch: Batch = Array.isArray(body.requests)
      ? { id: next('msgbatch_'), type: 'message_batch', processing_status: 'in_progress', results_url: null }
      : { id: next('batch_'), object: 'batch', ...body, status: 'validating', output_file_id: null };
    batches.set(String(batch.id), batch);
    return Response.json(batch, { status: upstream.createdStatus });
  }

  async function upload(request: Request): Promise<Response> {
    const form = await request.formData();
    const id = next('file-');
    const file = form.get('file');
    files.set(id, file instanceof Blob ? await file.text() : String(file));
    return Response.json({ id, object: 'file', purpose: form.get('purpose'), bytes: 1, created_at: 1, filename: 'a' });
  }

  function answerBatch(method: string, id: string, act: string | undefined): Response {
    const batch = batches.get(id);
    if (batch === undefined) return missing();
    if (act === 'cancel' && upstream.refusesCancel) {
      const message = `Cannot cancel a batch with status '${batch.status}'.`;
      return Response.json({ error: { message, type: 'invalid_request_error' } }, { status: 409 });
    }
    if (act === 'results')
      return new Response(results.get(id) ?? '', { headers: { 'content-type': 'binary/octet-stream' } });
    if (method === 'DELETE') {
      batches.delete(id);
      return Response.json({ id, type: 'message_batch_deleted' });
    }
    return Response.json(batch);
  }

  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url);
      const { headers, method } = request;
      const credential = headers.get('authorization')?.replace('Bearer ', '') ?? headers.get('x-api-key') ?? '';
      served.push(`${method} ${pathname} ${credential}`);
      const [first = '', ...rest] = pathname.replace(/^\/v1\/(?:messages\/)?/, '').split('/');
      const [id, act] = rest;
      if (first === 'files' && id === undefined) return upload(request);
      if (first === 'files') return files.has(id ?? '') ? new Response(files.get(id ?? '')) : missing();
      if (first === 'batches') return id === undefined ? create(request) : answerBatch(method, id, act);
      return missing();
    },
  });
  upstream.url = `http://127.0.0.1:${server.port}/v1`;
  return upstream;
}
