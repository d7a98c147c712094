/** Runs one exchange for a test and records all listener events. Asserts nothing. */

import type { BodySource } from '../body-source.ts';
import { parseBaseUrl, type UpstreamFailure } from '../connection.ts';
import { Exchange, type ExchangeLimits } from '../exchange.ts';
import type { ResponseHead } from '../response-head.ts';

/** Long enough for every test that is not about timeouts. */
const PATIENT: ExchangeLimits = {
  connectMs: 5_000,
  firstByteMs: 5_000,
  idleMs: 5_000,
  totalMs: 10_000,
  responseBytesMax: 64 * 1024 * 1024,
  mayResend: true,
};

/** A running or finished exchange. `end` resolves with `end` or with the failure. */
export interface RunningExchange {
  readonly exchange: Exchange;
  readonly end: Promise<'end' | UpstreamFailure>;
  head(): ResponseHead | null;
  body(): Buffer;
  bodyBytes(): number;
  /** How many times `onEnd` and `onFailure` were called in total. */
  endings(): number;
  /** Resolves once this many bytes of the body have arrived. */
  untilBytes(count: number): Promise<void>;
}

export interface ExchangePlan {
  readonly limits?: Partial<ExchangeLimits>;
  readonly body?: Uint8Array | BodySource;
  readonly publicOnly?: true;
  /** Called within `onHead`. */
  readonly onHead?: (running: RunningExchange) => void;
  /** Called within `onBody`. */
  readonly onBody?: (running: RunningExchange, span: Uint8Array) => void;
}

/** Starts an exchange with the server at `url`. */
export function runExchange(
  url: string,
  { limits = {}, body = Buffer.from('{}'), publicOnly, onHead, onBody }: ExchangePlan = {},
): RunningExchange {
  let head: ResponseHead | null = null;
  let endings = 0;
  let bytes = 0;
  const spans: Buffer[] = [];
  const waiting: Array<{ readonly count: number; resolve(): void }> = [];
  const { promise: end, resolve } = Promise.withResolvers<'end' | UpstreamFailure>();
  const finish = (how: 'end' | UpstreamFailure) => {
    endings += 1;
    resolve(how);
  };
  const { origin } = parseBaseUrl(url);
  const exchange = new Exchange(
    publicOnly === true ? { ...origin, publicOnly } : origin,
    `POST / HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n`,
    body,
    { ...PATIENT, ...limits },
    {
      onHead(given) {
        head = given;
        onHead?.(running);
      },
      onBody(span) {
        spans.push(Buffer.from(span));
        bytes += span.length;
        onBody?.(running, span);
        for (const one of waiting.splice(0)) {
          if (bytes >= one.count) one.resolve();
          else waiting.push(one);
        }
      },
      onEnd: () => finish('end'),
      onFailure: finish,
    },
  );
  const running: RunningExchange = {
    exchange,
    end,
    head: () => head,
    body: () => Buffer.concat(spans),
    bodyBytes: () => bytes,
    endings: () => endings,
    untilBytes: (count) =>
      new Promise((resolveBytes) => {
        if (bytes >= count) resolveBytes();
        else waiting.push({ count, resolve: resolveBytes });
      }),
  };
  return running;
}
