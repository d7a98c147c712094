/**
 * Names the answer that a call would get: a keyed hash of its workspace, its route and everything of its request that
 * may change the answer. What is not certain to be the same is another name.
 */
import { queryOf } from '../../lib/query/url-query.ts';
import type { CachedAnswerName } from '../../store/ports/cache/answer-cache.ts';
import type { Routed } from '../call.ts';
import { CACHE_HEADER } from './cache-use.ts';

/** Raised when answers of an earlier version must not be given any more. */
const VERSION = 'cached answer v1';

/** Headers that providers get, or by which the gateway chooses: a call with another value is another request. */
const HEADERS = /^(?:anthropic|openai|x-goog|x-tollgate)-/;
/** Where Gemini's clients send their API key: keys of a workspace share its answers. */
const KEY_PARAMETER = 'key';
const KEY_HEADER = 'x-goog-api-key';

/**
 * Reads the request as it goes to a provider. A step that changes the request before that must come before this one. The
 * body counts byte by byte: another order of members, or another space, is another request.
 */
export async function nameAnswer(call: Routed): Promise<CachedAnswerName> {
  const { account, workspaceId: workspace } = call.principal;
  const rules = call.guard === null ? [] : [call.guard.fingerprint];
  const about = JSON.stringify([VERSION, account.id, workspace, describeRequest(call), describeTarget(call), ...rules]);
  const hash = await call.deps.idempotency.hasher.hashBody(about, call.outline.bytes);
  return { account: account.id, workspace, hash };
}

function describeRequest({ protocol, request, facts, path, version, principal }: Routed): unknown {
  const query = queryOf(request);
  query.delete(KEY_PARAMETER);
  const headers = [...request.headers].filter(
    ([name]) => HEADERS.test(name) && name !== CACHE_HEADER && name !== KEY_HEADER,
  );
  return [
    protocol.name,
    facts.below ?? null,
    path === null ? null : [path.model, path.stream],
    facts.model,
    facts.stream,
    version,
    query.toString(),
    headers,
    principal.strict,
  ];
}

/**
 * The first target of the call, whose answer it is. Its key changes with the address or a setting of its provider; a
 * target that must carry other data tags is another one.
 */
function describeTarget({ route, target, routed, principal }: Routed): unknown {
  const { provider, model, region, key } = target.upstream;
  return [route.model, target.name, provider, model, region ?? null, key, routed?.tags ?? principal.requiredTags];
}
