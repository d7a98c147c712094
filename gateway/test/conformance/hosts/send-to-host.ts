/** Sends a request through a kind of provider as an attempt does, to a host that is played: nothing leaves the process. */

import { Secret } from '../../../src/lib/secret.ts';
import type { UpstreamProtocolName } from '../../../src/protocols/names.ts';
import type {
  AttemptTools,
  FinalRequest,
  HeaderLine,
  RemoteKind,
  Settings,
  UpstreamRequest,
} from '../../../src/providers/provider.ts';
import type { UpstreamTap } from '../../../src/upstream/exchange.ts';
import type { ResponseHead } from '../../../src/upstream/response-head.ts';

export interface PlayedAnswer {
  readonly status: number;
  readonly headers?: readonly HeaderLine[];
  readonly body: object;
}

export interface HostRequest {
  readonly kind: RemoteKind;
  readonly settings: Settings;
  readonly secrets?: Readonly<Record<string, string>>;
  readonly source?: string;
  /** For a kind whose settings lead to no address. */
  readonly baseUrl?: string;
  readonly model: string;
  readonly protocol: UpstreamProtocolName;
  readonly headers?: readonly HeaderLine[];
  readonly body: object;
  readonly strict?: boolean;
  /** In order; afterwards 200. */
  readonly answers?: readonly PlayedAnswer[];
}

/** A host and one credential at it, for several requests. */
export function openHost({
  kind,
  settings,
  secrets = {},
  source,
  baseUrl = '',
}: Pick<HostRequest, 'kind' | 'settings' | 'secrets' | 'source' | 'baseUrl'>) {
  const hidden: string[] = [];
  const credential = {
    secrets: Object.fromEntries(Object.entries(secrets).map(([name, text]) => [name, new Secret(text)])),
    source: source ?? null,
    settings,
    hide: (token: Secret) => void hidden.push(token.reveal()),
  };

  /** Rejects as `openAttempt` throws. */
  async function ask(given: Omit<HostRequest, 'kind' | 'settings' | 'secrets' | 'source' | 'baseUrl'>) {
    const { model, protocol, headers = [], body, strict = false, answers = [] } = given;
    const sent: { readonly url: string; readonly headers: Headers; readonly text: string }[] = [];
    const left = [...answers];
    const request: UpstreamRequest = {
      protocol,
      operation: 'plain',
      headers,
      body: Buffer.from(JSON.stringify(body)),
      answers: 1,
      requestId: 'req_1',
      atMs: 0,
      strict,
    };
    const send: AttemptTools['send'] =
      (door, next, authorize = door.authorize) =>
      (listener) => {
        const { headers: lines, body: bytes } = door.prepare?.(next, model, settings) ?? next;
        const address = door.addressOf?.(settings) ?? baseUrl;
        const base = door === kind ? kind.completeBaseUrl(address) : address;
        const url = `${base}${door.endpoint(protocol, 'plain', model, settings)}`;
        const fixed: readonly HeaderLine[] = [
          ['host', new URL(url).host],
          ['content-type', 'application/json'],
          ...kind.headers(credential.secrets, settings),
        ];
        const final: FinalRequest = { method: 'POST', url, headers: [...fixed, ...lines], body: bytes };
        Promise.resolve(authorize?.(final, credential)).then(
          () => {
            sent.push({
              url,
              headers: new Headers(final.headers.map(([name, value]) => [name, value])),
              text: Buffer.from(bytes).toString(),
            });
            const answer = left.shift() ?? { status: 200, body: {} };
            listener.onHead({
              status: answer.status,
              headers: answer.headers ?? [],
              framing: 'close',
              lengthBytes: 0,
              keepAlive: false,
            });
            listener.onBody(Buffer.from(JSON.stringify(answer.body)));
            listener.onEnd();
          },
          (error: Error) =>
            listener.onFailure({ kind: 'authorization', message: error.message, sent: false, stale: false }),
        );
        return {
          sentAtMs: 0,
          headAtMs: 0,
          lastByteAtMs: 0,
          pause: () => undefined,
          resume: () => undefined,
          abort: () => undefined,
        };
      };
    const heard = { status: 0, body: '', failure: '' };
    const { promise, resolve } = Promise.withResolvers<void>();
    const listener = {
      onHead: ({ status }: ResponseHead) => {
        heard.status = status;
      },
      onBody: (span: Uint8Array) => {
        heard.body += Buffer.from(span).toString();
      },
      onEnd: resolve,
      onFailure: ({ message }: { readonly message: string }) => {
        heard.failure = message;
        resolve();
      },
    };
    const tools: AttemptTools = { responseBytesMax: 100_000, key: `${kind.name} ${model}`, model, credential, send };
    const tap: UpstreamTap = kind.openAttempt?.(request, tools, listener) ?? send(kind, request)(listener);
    await promise;
    return { ...heard, sent, hidden, dropped: tap.dropped ?? [] };
  }
  return { ask };
}
