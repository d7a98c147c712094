/**
 * Requests a provider's model list with a credential, to check that it is reachable and accepts the credential; a host
 * without a list, or that does not show it, gets a request that it must refuse, which costs nothing. Says what is wrong,
 * and one remedy.
 */
import { findRetirement, type Retirement } from '../../catalog/retirements.ts';
import { CallFailure } from '../../errors/call-failure.ts';
import type { Secret } from '../../lib/secret.ts';
import { readErrorBody } from '../../protocols/answer/error-body.ts';
import { asObject } from '../../protocols/json.ts';
import type { NextPage, OfferedModel } from '../../providers/listing.ts';
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
  readonly models: readonly ProbedModel[];
  /** The list continues after them: not all of its pages were read. */
  readonly isCut: boolean;
}

/** A model that the provider offers. `retires`: when it shuts down; null: neither the provider nor the catalogue says. */
export interface ProbedModel {
  readonly model: string;
  readonly retires: Retirement | null;
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
const PAGES_MAX = 20;
/** After this time no further page is requested. */
const PAGES_MS = 10_000;
const CURSOR = /^[\x21-\x7e]{1,2048}$/;
const MODEL_NAME = /^[^\p{Cc}]{1,256}$/u;

/**
 * Each request times out after 10 seconds, and no page is requested after the first 10; follows no redirect.
 * Never rejects because of the provider's behavior. `credential`: one of its own; default: the first.
 */
export async function probeProvider(provider: Provider, credential?: Credential): Promise<Probe> {
  if (provider.baseUrl === null) {
    const models = provider.kind.local.models.map((model) => ({ model, retires: null }));
    return { ok: true, trouble: null, message: 'It answers inside the gateway.', durationMs: 0, models, isCut: false };
  }
  const startMs = performance.now();
  const outcome = await ask(provider, credential ?? provider.credentials.pool[0]);
  return { ...outcome, durationMs: Math.round(performance.now() - startMs) };
}

type Outcome = Omit<Probe, 'durationMs'>;

/** The members of a probe without a list. */
const NONE = { models: [], isCut: false } as const;

async function ask(provider: RemoteProvider, credential: Credential): Promise<Outcome> {
  const secrets = Object.values(credential.secrets);
  try {
    const readPage: ReadPage = (page) =>
      collect((listener) => openListing(provider, credential, secrets, LIMITS, listener, page));
    const listed = await readPage(null);
    const judgeListed = () => judgeList(listed, secrets, provider, listingOf(provider, credential), readPage);
    const { status } = listed.head;
    if (status !== 403 && status !== 404 && status !== 405) return await judgeListed();
    const refused = await collect((listener) => openRefused(provider, credential, listener));
    const isPathless = refused.head.status === 404 || refused.head.status === 405 || isRedirect(refused);
    // It may not know the model of the request: then it has read the request.
    const isRead = refused.body.includes(CHECK_MODEL);
    const taken = isPathless && !isRead ? null : judgeTaken(refused, secrets, status);
    return taken === null || (status === 403 && !taken.ok) ? await judgeListed() : taken;
  } catch (fault) {
    if (!(fault instanceof CallFailure)) throw fault;
    const cause = typeof fault.details.cause === 'string' ? fault.details.cause : fault.message;
    const judge = fault.kind === 'upstream_credential' ? judgeUnauthorized : judgeUnreached;
    return { ...judge(scrubText(cause, secrets)), ok: false, ...NONE };
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

const CHECK_MODEL = 'tollgate-check';
const NO_MESSAGES = Buffer.from(JSON.stringify({ model: CHECK_MODEL, max_tokens: 1, messages: [] }));

/** Sends a request that no host answers, whatever its format: it has no message, and names no model. */
function openRefused(provider: RemoteProvider, credential: Credential, listener: ExchangeListener): UpstreamTap {
  const { timeouts } = provider;
  const pool = { ...provider.credentials, pool: [{ ...credential, models: null }] } as const;
  const upstream = openUpstream({
    provider: { ...provider, credentials: pool },
    model: CHECK_MODEL,
    timeouts: { ...timeouts, ...LIMITS },
  });
  const [protocol = 'chat'] = upstream.protocols;
  const request = {
    protocol,
    operation: 'plain',
    headers: protocol === 'messages' ? [['anthropic-version', '2023-06-01'] as const] : [],
    body: NO_MESSAGES,
    answers: 1,
    requestId: 'req_check',
    atMs: Date.now(),
  } as const;
  return upstream.openExchange(request, 0, LIMITS.responseBytesMax, listener);
}

function isRedirect({ head: { status } }: CollectedAnswer): boolean {
  return status >= 300 && status < 400;
}

/** `listed`: the status of the list. */
function judgeTaken(answer: CollectedAnswer, secrets: readonly Secret[], listed: number): Outcome {
  const refusal = judgeRefusal(answer, scrubText(readErrorWords(answer.body), secrets).trim());
  // The request itself is refused as it must be, with a status such as 400 or 422; some hosts answer all with 200, which
  // does not outweigh their refusal of the list.
  const isAsked = refusal.trouble === 'other' || refusal.trouble === 'address';
  const isTaken = answer.head.status === 200 ? listed !== 403 : isAsked;
  if (!isTaken) return { ...refusal, ok: false, ...NONE };
  const message =
    listed === 403
      ? 'It shows this credential no list of models, and takes it.'
      : 'It has no list of models, and takes the credential.';
  return { ok: true, trouble: null, message, ...NONE };
}

/** Requests a page of the list; null: the first. */
type ReadPage = (page: readonly [name: string, cursor: string] | null) => Promise<CollectedAnswer>;

/** Reads the list from its first page to its last, as far as the bounds allow. A page that fails makes it fail. */
async function judgeList(
  first: CollectedAnswer,
  secrets: readonly Secret[],
  provider: RemoteProvider,
  { read = readIds, next = nextAfter }: Listing,
  readPage: ReadPage,
): Promise<Outcome> {
  const giveUpAtMs = performance.now() + PAGES_MS;
  const found = new Map<string, OfferedModel>();
  let answer = first;
  let last: string | null = null;
  for (let pages = 1; ; pages += 1) {
    if (answer.head.status !== 200) {
      const words = scrubText(readErrorWords(answer.body), secrets).trim();
      return { ...judgeRefusal(answer, words), ok: false, ...NONE };
    }
    const page = parseJson(answer.body.toString('utf8'));
    const models = read(page);
    if (models === null) return { ok: false, trouble: 'address', message: NO_LIST, ...NONE };
    for (const one of models) if (MODEL_NAME.test(one.model)) found.set(one.model, one);
    const following = next(page);
    if (following === null) return listOutcome(provider, [...found.values()], false);
    const [name, cursor] = following;
    const isOver = found.size >= MODELS_MAX || pages === PAGES_MAX || performance.now() > giveUpAtMs;
    // A host that names no other page would be asked for the same one again.
    if (isOver || typeof cursor !== 'string' || cursor === last || !CURSOR.test(cursor)) {
      return listOutcome(provider, [...found.values()], true);
    }
    last = cursor;
    answer = await readPage([name, cursor]);
  }
}

const NO_LIST = 'It answered 200, but not with a list of models. Does its address end in the right path, such as /v1?';

function listOutcome(provider: RemoteProvider, found: readonly OfferedModel[], goesOn: boolean): Outcome {
  const isCut = goesOn || found.length > MODELS_MAX;
  const models = found.slice(0, MODELS_MAX).map(({ model, retiresOn }) => ({
    model,
    retires: retiresOn === undefined ? findRetirement(provider, model) : ({ on: retiresOn, by: 'provider' } as const),
  }));
  const count = models.length === 1 ? 'one model' : `${models.length} models`;
  const message = isCut ? `It has ${count} or more: its list continues after these.` : `It has ${count}.`;
  return { ok: true, trouble: null, message, models, isCut };
}

/** The message of an error body; without one, its beginning. */
function readErrorWords(body: Buffer): string {
  return readErrorBody(body).message || body.toString('utf8').slice(0, 200);
}

function readIds(page: unknown): readonly OfferedModel[] | null {
  // Together answers with a bare array.
  const list = Array.isArray(page) ? page : asObject(page)?.data;
  if (!Array.isArray(list)) return null;
  return list
    .map((one) => asObject(one)?.id)
    .filter((id) => typeof id === 'string')
    .map((model) => ({ model }));
}

/** OpenAI's convention; hosts of its format list all models on one page. */
function nextAfter(page: unknown): NextPage {
  const { has_more, last_id } = asObject(page) ?? {};
  return has_more === true ? ['after', last_id] : null;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not a model list; the caller shows the body as text.
    return null;
  }
}
