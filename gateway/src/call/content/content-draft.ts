/**
 * Collects the bodies of one call while it runs, if its workspace records them, and at the end stores or discards them.
 * Errors here never affect the call.
 */
import type { Gauge } from '../../admission/capacity.ts';
import type { Principal } from '../../identity/principal.ts';
import type { Target } from '../../routing/route.ts';
import type { CallContent, StoredBytes } from '../../store/ports/content.ts';
import type { BodyPolicy } from '../../store/ports/records.ts';
import type { ExchangeListener } from '../../upstream/exchange.ts';
import { scrub } from '../attempt/scrub.ts';
import type { UpstreamCall } from '../plan/upstream-call.ts';
import { type ContentRecorder, KEPT_BODY_BYTES_MAX } from './content-recorder.ts';

/** The call's own data; its target is set while the call runs. */
interface SpokenCall {
  readonly requestId: string;
  readonly atMs: number;
  readonly protocol: { readonly name: CallContent['protocol'] };
  readonly target: Target | null;
}

export class ContentDraft {
  readonly #recorder: ContentRecorder;
  readonly #policy: BodyPolicy;
  readonly #call: SpokenCall;
  readonly #principal: Principal;
  readonly #request: Uint8Array;
  #sent: Uint8Array | null = null;
  #answer: KeptPrefix;
  /** Null: upstream sent nothing that the client gets in another form. */
  #received: KeptPrefix | null = null;
  #end: { readonly status: number; readonly failed: boolean } | null = null;
  #streams = false;
  #isLost = false;
  #isClosed = false;

  /** `request` is the body as received; the call holds it while it runs. */
  constructor(
    recorder: ContentRecorder,
    policy: BodyPolicy,
    call: SpokenCall,
    principal: Principal,
    request: Uint8Array,
  ) {
    this.#recorder = recorder;
    this.#policy = policy;
    this.#call = call;
    this.#principal = principal;
    this.#request = request;
    this.#answer = new KeptPrefix(recorder.bytes, KEPT_BODY_BYTES_MAX);
  }

  /** An attempt sends `body` upstream. Discards what the previous attempt received. */
  sent(body: Uint8Array): void {
    this.#sent = body;
    this.#recorder.bytes.give(this.#received?.heldBytes ?? 0);
    this.#received = null;
  }

  /** Bytes from upstream that the client gets in another form. */
  received(bytes: Uint8Array): void {
    if (this.#isClosed || this.#isLost) return;
    this.#received ??= new KeptPrefix(this.#recorder.bytes, KEPT_BODY_BYTES_MAX);
    if (!this.#received.append(bytes)) this.#lose();
  }

  /** Bytes on their way to the client, in one piece or as events. */
  answered(bytes: Uint8Array | string, asEvents = false): void {
    if (this.#isClosed || this.#isLost) return;
    this.#streams = asEvents;
    if (!this.#answer.append(typeof bytes === 'string' ? Buffer.from(bytes) : bytes)) this.#lose();
  }

  /** How the call ended, as recorded. */
  ended(status: number, error: string | null): void {
    this.#end = { status, failed: error !== null || status >= 400 };
  }

  /** Call when no part of the call is running any more. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const end = this.#end;
    if (end === null || (this.#policy === 'errors' && !end.failed)) this.#discard();
    else if (this.#isLost) this.#reportLoss();
    else this.#handOver(end.status);
  }

  #handOver(status: number): void {
    const request = this.#copy(this.#request);
    const isSame = this.#sent === this.#request;
    const sent = this.#sent === null || isSame ? null : this.#copy(this.#sent);
    if (request === null || (sent === null && this.#sent !== null && !isSame)) {
      this.#recorder.bytes.give(request?.bytes.length ?? 0);
      this.#lose();
      this.#reportLoss();
      return;
    }
    const { requestId, atMs, protocol } = this.#call;
    const content: CallContent = {
      requestId,
      account: this.#principal.accountId,
      workspace: this.#principal.workspaceId,
      atMs,
      protocol: protocol.name,
      status,
      stream: this.#streams,
      request,
      upstreamRequest: isSame ? 'same' : sent,
      response: this.#answer.result(),
      upstreamResponse: this.#received === null ? null : this.#scrubbed(this.#received.result()),
    };
    const heldBytes =
      request.bytes.length + (sent?.bytes.length ?? 0) + this.#answer.heldBytes + (this.#received?.heldBytes ?? 0);
    this.#recorder.keep(content, heldBytes);
  }

  /** Scrubs upstream's own bytes: the account's members may see no more than the client could have seen. */
  #scrubbed({ bytes, totalBytes }: StoredBytes): StoredBytes {
    const raw = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    return { bytes: Uint8Array.from(scrub(raw, this.#call.target?.upstream.secrets ?? [])), totalBytes };
  }

  /** The beginning of the body, copied into its own memory; null: no room. */
  #copy(body: Uint8Array): StoredBytes | null {
    const bytes = Math.min(body.length, KEPT_BODY_BYTES_MAX);
    if (!this.#recorder.bytes.take(bytes)) return null;
    return { bytes: Uint8Array.from(body.subarray(0, bytes)), totalBytes: body.length };
  }

  #lose(): void {
    this.#isLost = true;
    this.#discard();
  }

  #reportLoss(): void {
    this.#recorder.drop('too much of what is said in calls is held in memory; the disk is too slow for it');
  }

  #discard(): void {
    this.#recorder.bytes.give(this.#answer.heldBytes + (this.#received?.heldBytes ?? 0));
    this.#answer = new KeptPrefix(this.#recorder.bytes, 0);
    this.#received = null;
  }
}

const FIRST_BYTES = 4 * 1024;

class KeptPrefix {
  readonly #gauge: Gauge;
  readonly #bytesMax: number;
  #bytes = new Uint8Array(0);
  #used = 0;
  #totalBytes = 0;

  constructor(gauge: Gauge, bytesMax: number) {
    this.#gauge = gauge;
    this.#bytesMax = bytesMax;
  }

  /** Bytes taken from the gauge; the new owner of the bytes must give them back. */
  get heldBytes(): number {
    return this.#bytes.length;
  }

  /** Copies as much as fits within the limit. False: the gauge has no room. */
  append(bytes: Uint8Array): boolean {
    this.#totalBytes += bytes.length;
    const taken = Math.min(bytes.length, this.#bytesMax - this.#used);
    if (taken === 0) return true;
    if (!this.#makeRoom(this.#used + taken)) return false;
    this.#bytes.set(taken === bytes.length ? bytes : bytes.subarray(0, taken), this.#used);
    this.#used += taken;
    return true;
  }

  /** The collected bytes; nothing may be appended afterwards. */
  result(): StoredBytes {
    return { bytes: this.#bytes.subarray(0, this.#used), totalBytes: this.#totalBytes };
  }

  #makeRoom(needed: number): boolean {
    const had = this.#bytes.length;
    if (needed <= had) return true;
    // Allocates exactly what a body in one piece needs; doubles for a body that grows.
    const room = had === 0 ? Math.max(needed, FIRST_BYTES) : Math.max(needed, Math.min(had * 2, this.#bytesMax));
    if (!this.#gauge.take(room - had)) return false;
    const grown = new Uint8Array(room);
    grown.set(this.#bytes.subarray(0, this.#used));
    this.#bytes = grown;
    return true;
  }
}

/**
 * Records upstream bytes only if the client gets them in another form: translated, or as an error of the gateway. Bytes
 * that pass unchanged are recorded on their way out.
 */
export function listenForContent(
  content: ContentDraft,
  { body, translation }: Pick<UpstreamCall, 'body' | 'translation'>,
  listener: ExchangeListener,
): ExchangeListener {
  content.sent(body);
  let records = translation !== null;
  return {
    onHead(head) {
      records ||= head.status !== 200;
      listener.onHead(head);
    },
    onBody(span) {
      if (records) content.received(span);
      listener.onBody(span);
    },
    onEnd: () => listener.onEnd(),
    onFailure: (failure) => listener.onFailure(failure),
  };
}
