/**
 * Answers calls from the cache. An answer that cannot be read is a miss: the cache never fails a call.
 */
import type { CachedAnswer, CachedAnswerName } from '../../store/ports/cache/answer-cache.ts';
import { type Routed, setMoney } from '../call.ts';
import { storedAnswerHeaders } from '../deliver/reply.ts';
import { holdBytes, replyStored } from '../deliver/stored-reply.ts';
import { holdCached } from '../money/hold-call.ts';
import { redactKeys, settle, unrecorded } from '../money/settle.ts';
import { CachedCall } from './answer-cache.ts';
import { nameAnswer } from './cache-name.ts';
import { CACHE_HEADER, chooseCacheUse, oldestUsableMs } from './cache-use.ts';

/**
 * For a call of a workspace with a cache: the reply where its answer is cached; null: it goes to a provider, and its
 * answer is collected where it may be cached. Its request must be as it goes to the provider. Throws CallFailure as
 * `holdCall` and `settle` do.
 */
export async function answerFromCache(call: Routed): Promise<Response | null> {
  const policy = call.principal.cache;
  const use = policy === null ? null : chooseCacheUse(call, policy);
  if (policy === null || use === null) return null;
  if (use.kind === 'bypass') {
    call.cacheNote = `bypass; reason=${use.reason}`;
    return null;
  }
  const name = await nameAnswer(call);
  const sinceMs = oldestUsableMs(policy, call.settings.config.defaults, Date.now());
  const found = use.looksUp ? await findAnswer(call, name, sinceMs) : null;
  const reply = found === null ? null : await giveAnswer(call, found);
  if (reply !== null) return reply;
  call.cacheNote = use.looksUp ? 'miss' : 'refresh';
  call.caching = new CachedCall(call, name, call.deps.cache);
  return null;
}

async function findAnswer(call: Routed, name: CachedAnswerName, sinceMs: number): Promise<CachedAnswer | null> {
  const { cache } = call.deps;
  try {
    return await cache.store.find(name, sinceMs);
  } catch (cause) {
    cache.failed(cause);
    return null;
  }
}

/** Holds and settles nothing, so that the call counts within its limits and has its record. Null: no memory is left. */
async function giveAnswer(call: Routed, answer: CachedAnswer): Promise<Response | null> {
  const { body, requestId, stream, finishReason: finish_reason, servedModel, provider } = answer;
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const held = holdBytes(call.deps.cache.bytes, bytes.length);
  if (held === null) return null;
  try {
    const holding = holdCached(call);
    setMoney(call, holding instanceof Promise ? await holding : holding);
    call.cachedFrom = requestId;
    const reported = { error: null, finish_reason, served_model: redactKeys(servedModel), provider };
    await settle(call, { status: 200, failure: null, facts: null }, reported).catch((cause: unknown) => {
      throw unrecorded(cause);
    });
  } catch (failure) {
    held.release();
    throw failure;
  }
  call.content?.answered(bytes, stream);
  const headers = storedAnswerHeaders(call, answer.headers);
  headers.set(CACHE_HEADER, 'hit');
  headers.set('age', String(Math.max(0, Math.floor((call.atMs - answer.atMs) / 1_000))));
  headers.set('x-tollgate-cached-request-id', requestId);
  const head = { status: 200, stream, error: null, finish_reason, served_model: servedModel, provider };
  await call.run?.keep(head, headers, bytes);
  return replyStored(call, { status: 200, stream, headers }, bytes, held);
}
