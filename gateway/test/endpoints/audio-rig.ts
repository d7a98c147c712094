/** Starts a gateway with an upstream of audio, and posts forms to it, in pieces of any size. */
import { createHash } from 'node:crypto';
import { type CallLine, type RunningGateway, startGateway } from '../harness/start-gateway.ts';
import { type Arrived, type SetUpstream, startSetUpstream } from './set-upstream.ts';

export interface AudioRig {
  readonly gateway: RunningGateway;
  readonly upstream: SetUpstream;
  post(path: string, body: FormData | object, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  /** Posts the bytes of a form in these pieces, without a length. */
  postPieces(path: string, pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): Promise<Answer>;
  recordOf(answer: Answer): Promise<CallLine | undefined>;
  stop(): Promise<void>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
  readonly text: string;
}

export const BOUNDARY = 'a-b0undary';

/** A part of a form, with its boundary. */
export function partOf(name: string, value: string | Uint8Array, fileName?: string): Buffer {
  const file = fileName === undefined ? '' : `; filename="${fileName}"\r\nContent-Type: audio/wav`;
  const head = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), Buffer.from(value as Uint8Array), Buffer.from('\r\n')]);
}

export const FORM_END = Buffer.from(`--${BOUNDARY}--\r\n`);

/** The model of a form or of JSON; empty: none. */
function nameModel({ headers, body }: Arrived): string {
  if (headers.get('content-type')?.startsWith('multipart/') !== true) return String(JSON.parse(body.toString()).model);
  const at = body.indexOf('name="model"');
  const start = body.indexOf('\r\n\r\n', at) + 4;
  return at === -1 ? '' : body.toString('latin1', start, body.indexOf('\r\n', start));
}

/** The bytes of the file in a form. */
export function fileIn(body: Buffer): Buffer {
  const start = body.indexOf('\r\n\r\n', body.indexOf('filename=')) + 4;
  const delimiter = body.subarray(0, body.indexOf('\r\n'));
  return body.subarray(start, body.indexOf(Buffer.concat([Buffer.from('\r\n'), delimiter]), start));
}

export function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** 24 kHz, 16 bit, mono: 48,000 bytes a second. */
export function wavOf(seconds: number): Buffer {
  const bytes = Buffer.alloc(44 + seconds * 48_000);
  bytes.write('RIFF', 0, 'latin1');
  bytes.writeUInt32LE(0xffff_ffff, 4);
  bytes.write('WAVEfmt ', 8, 'latin1');
  bytes.writeUInt32LE(16, 16);
  bytes.writeUInt16LE(1, 20);
  bytes.writeUInt16LE(1, 22);
  bytes.writeUInt32LE(24_000, 24);
  bytes.writeUInt32LE(48_000, 28);
  bytes.writeUInt16LE(2, 32);
  bytes.writeUInt16LE(16, 34);
  bytes.write('data', 36, 'latin1');
  bytes.writeUInt32LE(0xffff_ffff, 40);
  return bytes;
}

/** `configure` gets upstream's address. */
export async function startAudioRig(configure: (url: string) => object): Promise<AudioRig> {
  const upstream = startSetUpstream(nameModel);
  const gateway = await startGateway({ config: configure(upstream.url) });
  const authorization = `Bearer ${gateway.key}`;
  const read = async (reply: Response): Promise<Answer> => {
    const bytes = Buffer.from(await reply.arrayBuffer());
    return { status: reply.status, headers: reply.headers, bytes, text: bytes.toString() };
  };
  return {
    gateway,
    upstream,
    async post(path, body, headers = {}) {
      const isForm = body instanceof FormData;
      return read(
        await fetch(gateway.url + path, {
          method: 'POST',
          headers: { authorization, ...(isForm ? {} : { 'content-type': 'application/json' }), ...headers },
          body: isForm ? body : JSON.stringify(body),
        }),
      );
    },
    async postPieces(path, pieces) {
      async function* send() {
        yield* pieces;
      }
      const type = `multipart/form-data; boundary=${BOUNDARY}`;
      const headers = { authorization, 'content-type': type };
      return read(
        await fetch(gateway.url + path, { method: 'POST', headers, body: send() as unknown as ReadableStream }),
      );
    },
    async recordOf({ headers }) {
      const id = headers.get('x-request-id');
      return (await gateway.calls()).find(({ request_id }) => request_id === id);
    },
    async stop() {
      await gateway.stop();
      await upstream.stop();
    },
  };
}
