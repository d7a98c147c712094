/** Asks the HTTP service of a rule about texts: one signed request with a time limit, strictly read. */
import { randomUUID } from 'node:crypto';
import type { Secret } from '../lib/secret.ts';
import type { GuardrailRule } from '../store/ports/books/guardrails.ts';
import type { Fetch } from '../upstream/guarded-fetch.ts';
import { signPost } from '../upstream/signed-post.ts';
import type { Side } from './guard-failures.ts';

/** What a hook reaches its service with. */
export interface HookParts {
  /** The address and the signing secret; null: they cannot be opened. */
  open(rule: GuardrailRule): { readonly url: Secret; readonly signing: Secret } | null;
  /** Reaches public https addresses only and, for rules of the operator, those that the operator trusts. No redirects. */
  fetchFor(rule: GuardrailRule): Fetch;
}

/** Whose texts they are. */
export interface HookSubject {
  readonly account: string;
  readonly workspace: string;
  readonly key: string;
  readonly model: string | null;
}

export type HookAnswer =
  | { readonly action: 'allow' }
  | { readonly action: 'block'; readonly reason: string }
  | { readonly action: 'replace'; readonly texts: readonly string[] }
  /** It could not be asked, or did not answer as it must. */
  | { readonly action: 'failed'; readonly why: string }
  /** It is never asked about so much. */
  | { readonly action: 'too_large'; readonly why: string };

const BODY_BYTES_MAX = 1024 * 1024;
const REASON_LENGTH_MAX = 200;

export async function askHook(
  { open, fetchFor }: HookParts,
  rule: GuardrailRule,
  side: Side,
  subject: HookSubject,
  texts: readonly string[],
): Promise<HookAnswer> {
  const secrets = open(rule);
  if (secrets === null) return failed('its address cannot be decrypted, because the master key is another one');
  const { account, workspace, key, model } = subject;
  const body = JSON.stringify({ id: randomUUID(), rule: rule.id, account, workspace, key, side, model, texts });
  if (Buffer.byteLength(body) > BODY_BYTES_MAX) {
    return { action: 'too_large', why: `its texts are larger than the ${BODY_BYTES_MAX} bytes that a hook gets` };
  }
  const signal = AbortSignal.timeout(rule.timeoutMs);
  try {
    const reply = await fetchFor(rule)(secrets.url.reveal(), {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...signPost(secrets.signing, body, Date.now()) },
      body,
      signal,
    });
    if (reply.status !== 200) return failed(`its service answered ${reply.status}`);
    return readAnswer(await reply.text(), texts.length);
  } catch (fault) {
    if (signal.aborted) return failed(`its service did not answer within ${rule.timeoutMs} ms`);
    const message = fault instanceof Error ? fault.message : String(fault);
    return failed(message.replaceAll(secrets.url.reveal(), rule.receiver));
  }
}

function failed(why: string): HookAnswer {
  return { action: 'failed', why };
}

function readAnswer(text: string, count: number): HookAnswer {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    return failed('its service did not answer with JSON');
  }
  if (typeof answer !== 'object' || answer === null) return failed('its service did not answer with a JSON object');
  const { action, texts, reason } = answer as { action?: unknown; texts?: unknown; reason?: unknown };
  if (action === 'allow') return { action };
  if (action === 'block') {
    if (reason !== undefined && typeof reason !== 'string') return failed('reason: expected a string');
    return { action, reason: (reason ?? '').toWellFormed().slice(0, REASON_LENGTH_MAX) };
  }
  if (action !== 'replace') return failed('action: expected allow, block or replace');
  if (!Array.isArray(texts) || texts.length !== count || !texts.every((one) => typeof one === 'string')) {
    return failed(`texts: expected ${count} strings, one for each text of the request`);
  }
  return { action, texts: texts.map((one: string) => one.toWellFormed()) };
}
