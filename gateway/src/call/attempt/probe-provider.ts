/** Requests a provider's model list with its credential, to check that it is reachable and accepts the credential. */
import { CallFailure } from '../../errors/call-failure.ts';
import type { Secret } from '../../lib/secret.ts';
import { asObject } from '../../protocols/json.ts';
import type { Credential, Listing, Provider, RemoteProvider } from '../../providers/provider.ts';
import { listingOf, openListing } from '../../providers/upstream.ts';
import { AnswerCollector, type CollectedAnswer } from './collect-answer.ts';
import { scrubText } from './scrub.ts';

/** The result of a probe. `message`: a sentence for the operator, without any credential. */
export interface Probe {
  readonly ok: boolean;
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
    return { ok: true, message: 'It answers inside the gateway.', durationMs: 0, models };
  }
  const startMs = performance.now();
  const outcome = await ask(provider, credential ?? provider.credentials.pool[0]);
  return { ...outcome, durationMs: Math.round(performance.now() - startMs) };
}

async function ask(provider: RemoteProvider, credential: Credential): Promise<Omit<Probe, 'durationMs'>> {
  const secrets = Object.values(credential.secrets);
  const limits = { errorBodyBytesMax: ERROR_BODY_BYTES_MAX, responseBytesMax: LIMITS.responseBytesMax };
  const { promise, resolve, reject } = Promise.withResolvers<CollectedAnswer>();
  const collector = new AnswerCollector(limits, {
    onEnough: () => exchange.abort(),
    onAnswer: resolve,
    onAnswerFailed: reject,
  });
  const exchange = openListing(provider, credential, secrets, LIMITS, collector);
  try {
    return judgeAnswer(await promise, secrets, listingOf(provider, credential));
  } catch (fault) {
    if (!(fault instanceof CallFailure)) throw fault;
    const cause = typeof fault.details.cause === 'string' ? fault.details.cause : fault.message;
    return failed(`It was not reached: ${scrubText(cause, secrets)}.`);
  }
}

function failed(message: string) {
  return { ok: false, message, models: [] };
}

function judgeAnswer({ head, body }: CollectedAnswer, secrets: readonly Secret[], listing: Listing) {
  const { status } = head;
  if (status >= 300 && status < 400) {
    return failed(
      `It answered ${status}, a redirect to another address, which is never followed. Correct its address.`,
    );
  }
  if (status !== 200) {
    const words = scrubText(readErrorWords(body), secrets).trim();
    return failed(`It answered ${status}${words === '' ? '' : `: ${words}`}. ${adviceFor(status)}`);
  }
  const models = readModels(body, listing);
  if (models === null) {
    return failed(
      'It answered 200, but not with a list of models. Does its address end in the right path, such as /v1?',
    );
  }
  return { ok: true, message: `It has ${models.length === 1 ? 'one model' : `${models.length} models`}.`, models };
}

function adviceFor(status: number): string {
  if (status === 401 || status === 403) return 'Enter its credential again.';
  if (status === 404 || status === 405) return 'Does its address end in the right path, such as /v1?';
  return 'Ask its operator, or try again later.';
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
