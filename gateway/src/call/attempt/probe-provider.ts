/**
 * Requests a provider's model list with a credential, to check that it is reachable and accepts the credential; a host
 * without a list gets a request that it must refuse, which costs nothing. Says what is wrong, and one remedy.
 */
import { CallFailure } from '../../errors/call-failure.ts';
import type { Secret } from '../../lib/secret.ts';
import { asObject } from '../../protocols/json.ts';
import type { Credential, Listing, Provider, RemoteProvider } from '../../providers/provider.ts';
import { listingOf, openListing, openUpstream } from '../../providers/upstream.ts';
import type { ExchangeListener, UpstreamTap } from '../../upstream/exchange.ts';
import { AnswerCollector, type CollectedAnswer } from './collect-answer.ts';
import { judgeRefusal, judgeUnauthorized, judgeUnreached, type ProbeTrouble } from './probe-troubles.ts';
import { scrubText } from './scrub.ts';

/** The result of a probe. `message`: a sentence for the operator, without any credential. */
export interface Probe {
  readonly ok: boolean;
  /** What is wrong; null: nothing. */
  readonly trouble: ProbeTrouble | null;
  readonly message: string;
  readonly durationMs: number;
  /** In the provider's order. */
  readonly models: readonly string[];
}

const LIMITS = {
  connectMs: 5_000,
  firstByteMs: 10_000,
  idleMs: 10_000,
  totalMs: 10_000,
  responseBytesMax: 4 * 2 ** 20,
  mayResend: true,
};
const ERROR_BODY_BYTES_MAX = 16 * 1024;
const MODELS_MAX = 5_000;
const MODEL_NAME = /^[^\p{Cc}]{1,256}$/u;

/**
 * Times out after 10 seconds; follows no redirect. Never rejects because of the provider's behavior. `credential`: one of
 * its own; default: the first.
 */
export async function probeProvider(provider: Provider, credential?: Credential): Promise<Probe> {
  if (provider.baseUrl === null) {
    const { models } = provider.kind.local;
    return { ok: true, trouble: null, message: 'It answers inside the gateway.', durationMs: 0, models };
  }
  const startMs = performance.now();
  const outcome = await ask(provider, credential ?? provider.credentials.pool[0]);
  return { ...outcome, durationMs: Math.round(performance.now() - startMs) };
}

async function ask(provider: RemoteProvider, credential: Credential): Promise<Omit<Probe, 'durationMs'>> {
  const secrets = Object.values(credential.secrets);
  try {
    const listing = listingOf(provider, credential);
    const listed = await collect((listener) => openListing(provider, credential, secrets, LIMITS, listener));
    const { status } = listed.head;
    const isUnlisted = (status === 404 || status === 405) && FREE_CALLS.has(provider.kind.protocols[0] ?? '');
    if (!isUnlisted) return judgeAnswer(listed, secrets, listing);
    const refused = await collect((listener) => openRefused(provider, credential, listener));
    const isPathless = refused.head.status === 404 || refused.head.status === 405;
    // It may not know the model of the request: then it has read the request.
    const isRead = refused.body.includes(CHECK_MODEL);
    return isPathless && !isRead ? judgeAnswer(listed, secrets, listing) : judgeTaken(refused, secrets);
  } catch (fault) {
    if (!(fault instanceof CallFailure)) throw fault;
    const cause = typeof fault.details.cause === 'string' ? fault.details.cause : fault.message;
    const judge = fault.kind === 'upstream_credential' ? judgeUnauthorized : judgeUnreached;
    return { ...judge(scrubText(cause, secrets)), ok: false, models: [] };
  }
}

function collect(open: (listener: ExchangeListener) => UpstreamTap): Promise<CollectedAnswer> {
  const limits = { errorBodyBytesMax: ERROR_BODY_BYTES_MAX, responseBytesMax: LIMITS.responseBytesMax };
  const { promise, resolve, reject } = Promise.withResolvers<CollectedAnswer>();
  const collector = new AnswerCollector(limits, {
    onEnough: () => exchange.abort(),
    onAnswer: resolve,
    onAnswerFailed: reject,
  });
  const exchange = open(collector);
  return promise;
}

/** The formats in which a request without messages is refused. */
const FREE_CALLS: ReadonlySet<string> = new Set(['chat', 'messages']);
const CHECK_MODEL = 'tollgate-check';
const NO_MESSAGES = Buffer.from(JSON.stringify({ model: CHECK_MODEL, max_tokens: 1, messages: [] }));

/** Sends a request that no host answers: it has no message. */
function openRefused(provider: RemoteProvider, credential: Credential, listener: ExchangeListener): UpstreamTap {
  const { kind, timeouts } = provider;
  const [protocol = 'chat'] = kind.protocols;
  const pool = { ...provider.credentials, pool: [{ ...credential, models: null }] } as const;
  const model = {
    provider: { ...provider, credentials: pool },
    model: CHECK_MODEL,
    timeouts: { ...timeouts, ...LIMITS },
  };
  const request = {
    protocol,
    operation: 'plain',
    headers: protocol === 'messages' ? [['anthropic-version', '2023-06-01'] as const] : [],
    body: NO_MESSAGES,
    answers: 1,
    requestId: 'req_check',
    atMs: Date.now(),
  } as const;
  return openUpstream(model).openExchange(request, 0, LIMITS.responseBytesMax, listener);
}

function judgeTaken(answer: CollectedAnswer, secrets: readonly Secret[]) {
  const refusal = judgeRefusal(answer, scrubText(readErrorWords(answer.body), secrets).trim());
  // The request itself is refused as it must be, with a status such as 400 or 422.
  const isAsked = refusal.trouble === 'other' || refusal.trouble === 'address';
  if (!isAsked && answer.head.status !== 200) return { ...refusal, ok: false, models: [] };
  return { ok: true, trouble: null, message: 'It has no list of models, and takes the credential.', models: [] };
}

function judgeAnswer(answer: CollectedAnswer, secrets: readonly Secret[], listing: Listing) {
  const { status } = answer.head;
  if (status !== 200) {
    const words = scrubText(readErrorWords(answer.body), secrets).trim();
    return { ...judgeRefusal(answer, words), ok: false, models: [] };
  }
  const models = readModels(answer.body, listing);
  if (models === null) {
    const message =
      'It answered 200, but not with a list of models. Does its address end in the right path, such as /v1?';
    return { ok: false, trouble: 'address' as const, message, models: [] };
  }
  const message = `It has ${models.length === 1 ? 'one model' : `${models.length} models`}.`;
  return { ok: true, trouble: null, message, models };
}

/** The message of an error body, from any of the usual places; otherwise the beginning of the body. */
function readErrorWords(body: Buffer): string {
  const text = body.toString('utf8');
  const parsed = parseJson(text);
  const object = asObject(parsed);
  const error = object?.error;
  const message = [asObject(error)?.message, object?.message, error].find((one) => typeof one === 'string');
  return typeof message === 'string' ? message : text.slice(0, 200);
}

function readModels(body: Buffer, { read = readIds }: Listing): readonly string[] | null {
  const names = read(parseJson(body.toString('utf8')));
  return names === null ? null : names.filter((name) => MODEL_NAME.test(name)).slice(0, MODELS_MAX);
}

function readIds(answer: unknown): readonly string[] | null {
  // Together answers with a bare array.
  const list = Array.isArray(answer) ? answer : asObject(answer)?.data;
  if (!Array.isArray(list)) return null;
  return list.map((one) => asObject(one)?.id).filter((id) => typeof id === 'string');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not a model list; the caller shows the body as text.
    return null;
  }
}
