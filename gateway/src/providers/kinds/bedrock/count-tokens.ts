/**
 * Counts a prompt by CountTokens of the runtime service: the form of its request, its answer in the form of messages, and
 * the refusals after which another service is asked, or the gateway estimates. Source: provider reference C.5.
 */
import { readCount } from '../../../protocols/converse/upstream/count-tokens.ts';
import { valueText } from '../../../protocols/exact-json.ts';
import type { UpstreamFailure } from '../../../upstream/connection.ts';
import type { ExchangeListener } from '../../../upstream/exchange.ts';
import type { ResponseHead } from '../../../upstream/response-head.ts';
import type { Refusal } from '../../exchanges/chained-exchange.ts';
import { editBody } from '../../hosted/edit-body.ts';
import type { UpstreamRequest } from '../../provider.ts';
import { toInvoke } from './invoke-body.ts';
import { exceptionOf } from './refusals.ts';

/**
 * A request for a count of messages. The body is one of InvokeModel, which must have an output limit, above a budget of
 * thinking: https://github.com/anthropics/anthropic-sdk-python/pull/1043 (2025-10-14).
 */
export function toCount(request: UpstreamRequest): UpstreamRequest {
  const { body, ...invoked } = toInvoke(request, []);
  const budget = Number(valueText(Buffer.from(body).toString(), ['thinking', 'budget_tokens']) ?? 0);
  const limit = Number.isSafeInteger(budget) && budget > 0 ? budget + 1 : 1;
  const limited = editBody(body, [{ set: ['max_tokens'], json: String(limit) }]);
  const input = { invokeModel: { body: Buffer.from(limited).toString('base64') } };
  return { ...invoked, body: Buffer.from(JSON.stringify({ input })) };
}

const NOT_IMPLEMENTED: ResponseHead = { status: 501, headers: [], framing: 'none', lengthBytes: 0, keepAlive: true };

/** Answers for services that do not count the model: the gateway then estimates. */
export const NO_COUNT: Refusal = { head: NOT_IMPLEMENTED, body: Buffer.alloc(0) };

/** Recorded in pydantic/pydantic-ai#4001 (2026-01-14); the others say that the service does not have the model. */
const UNCOUNTED =
  /doesn.t support counting tokens|model identifier is invalid|with on-demand throughput isn.t supported|isn.t supported on this route/i;

/**
 * The service does not count this model, or the account may not count there: that needs a right of its own
 * (`bedrock:CountTokens`, `bedrock-mantle:CountTokens`). A refused credential is no such refusal.
 */
export function refusesToCount(refusal: Refusal): boolean {
  const { status } = refusal.head;
  if (status === 404 || status === 405 || status === 501) return true;
  if (status === 400) return UNCOUNTED.test(refusal.body.toString('latin1'));
  return (status === 401 || status === 403) && ['', 'AccessDeniedException'].includes(exceptionOf(refusal));
}

/** Renders a count as Anthropic writes it, and any other answer as `NO_COUNT`; a refusal passes unchanged. */
export class CountReader implements ExchangeListener {
  readonly #listener: ExchangeListener;
  /** Null: a refusal passes. */
  #head: ResponseHead | null = null;
  readonly #spans: Uint8Array[] = [];

  constructor(listener: ExchangeListener) {
    this.#listener = listener;
  }

  onHead(head: ResponseHead): void {
    if (head.status === 200) this.#head = head;
    else this.#listener.onHead(head);
  }

  onBody(span: Uint8Array): void {
    if (this.#head === null) this.#listener.onBody(span);
    else this.#spans.push(span);
  }

  onEnd(): void {
    if (this.#head !== null) this.#pass(this.#head, Buffer.concat(this.#spans));
    this.#listener.onEnd();
  }

  onFailure(failure: UpstreamFailure): void {
    this.#listener.onFailure(failure);
  }

  #pass(head: ResponseHead, body: Buffer): void {
    const tokens = readCount(body);
    if (tokens === null) {
      this.#listener.onHead(NO_COUNT.head);
      return;
    }
    this.#listener.onHead(head);
    this.#listener.onBody(Buffer.from(JSON.stringify({ input_tokens: tokens })));
  }
}
