/**
 * A program for tests: makes the exchanges that its first argument (JSON) lists, one after the other, perhaps through a
 * proxy, and prints how each ended.
 */
import { setEgressProxy } from '../dial.ts';
import { parseDirectRule, parseProxyAddress } from '../egress-proxy.ts';
import { runExchange } from './run-exchange.ts';

export interface TlsCalls {
  readonly urls: readonly string[];
  readonly publicOnly?: true;
  /** An address as in `HTTPS_PROXY`, and entries as in `NO_PROXY`. */
  readonly proxy?: string;
  readonly direct?: readonly string[];
  /** Bytes of each request's body. */
  readonly bodyBytes?: number;
}

export interface TlsOutcome {
  /** `end`, or the kind of failure. */
  readonly end: string;
  readonly message: string;
  readonly sent: boolean;
  /** The beginning of the body, and its length. */
  readonly body: string;
  readonly bodyBytes: number;
}

const { urls, publicOnly, proxy, direct = [], bodyBytes = 2 }: TlsCalls = JSON.parse(process.argv[2] ?? '');
if (proxy !== undefined) {
  const address = parseProxyAddress(proxy);
  if (address === null) throw new Error('not an address of a proxy');
  setEgressProxy({ ...address, direct: direct.flatMap((text) => parseDirectRule(text) ?? []) });
}
const outcomes: TlsOutcome[] = [];
for (const url of urls) {
  const body = Buffer.alloc(bodyBytes, 'x');
  const running = runExchange(url, { body, ...(publicOnly === true ? { publicOnly } : {}) });
  const end = await running.end;
  outcomes.push({
    end: end === 'end' ? end : end.kind,
    message: end === 'end' ? '' : end.message,
    sent: end === 'end' || end.sent,
    body: running.body().toString('utf8', 0, 100),
    bodyBytes: running.bodyBytes(),
  });
}
process.stdout.write(JSON.stringify(outcomes));
process.exit(0);
