/**
 * Makes the exchanges of one attempt at Bedrock: at the service that has the model, or counts its tokens; signed again
 * where the time or the keys were wrong, and without betas where the model refuses them; each at most once. A strict key
 * gets a refusal where something would be dropped.
 */
import { CallFailure } from '../../../errors/call-failure.ts';
import type { ExchangeListener, UpstreamTap } from '../../../upstream/exchange.ts';
import { headerOf, type ResponseHead } from '../../../upstream/response-head.ts';
import type { AwsSigner, Signed } from '../../credentials/aws-signer.ts';
import {
  type ChainedExchange,
  type Ending,
  type OpenExchange,
  openResending,
  type Refusal,
} from '../../exchanges/chained-exchange.ts';
import { dropMembers, memberOf, readBetas, withBetas } from '../../hosted/betas-header.ts';
import { CACHE_SCOPE, isScopeBeta, withoutCacheScopes } from '../../hosted/cache-scope.ts';
import { CACHE_MARK, placeRootMark } from '../../hosted/root-cache-mark.ts';
import type { AttemptTools, Door, FinalRequest, RequestCredential, UpstreamRequest } from '../../provider.ts';
import { chooseBetas } from './betas.ts';
import { CountReader, NO_COUNT, refusesToCount } from './count-tokens.ts';
import { type AdaptedTools, adaptTools } from './invoke-tools.ts';
import type { BedrockMemory } from './memory.ts';
import { countersFor, type DoorName, doorsFor } from './models.ts';
import { exceptionOf, refuse, refusesBetas, withCode } from './refusals.ts';

export interface BedrockDoor extends Door {
  /** The name of the service in signatures. */
  readonly service: string;
}

export interface BedrockState {
  readonly doors: Readonly<Record<DoorName, BedrockDoor>>;
  /** `target`: its key. */
  memoryOf(credential: RequestCredential, target: string): BedrockMemory;
  signerOf(credential: RequestCredential): AwsSigner;
  nowMs(): number;
}

export function openBedrockAttempt(
  state: BedrockState,
  request: UpstreamRequest,
  tools: AttemptTools,
  listener: ExchangeListener,
): UpstreamTap {
  return new BedrockAttempt(state, request, tools).start(listener);
}

class BedrockAttempt {
  readonly #state: BedrockState;
  readonly #request: UpstreamRequest;
  readonly #tools: AttemptTools;
  readonly #signer: AwsSigner;
  readonly #memory: BedrockMemory;
  readonly #isCount: boolean;
  readonly #left: DoorName[];
  /** Which service has the model is not known, and an answer shows it. */
  readonly #isOpen: boolean;
  #door: DoorName;
  #betas: readonly string[] = [];
  #takesBetas = true;
  #signedAnew = false;
  /** How the last request was signed; null: it was not. */
  #signed: Signed | null = null;
  #dropped: readonly string[] = [];
  /** The cache mark of the whole request, if no block could have it. */
  readonly #lost: readonly string[];
  /** The request's tools as InvokeModel takes them; null: it has not been sent there. */
  #invoked: AdaptedTools | null = null;
  #tap: ChainedExchange | null = null;

  constructor(state: BedrockState, request: UpstreamRequest, tools: AttemptTools) {
    const { model, key, credential } = tools;
    this.#state = state;
    const placed = request.protocol === 'messages' ? placeRootMark(request.body) : null;
    this.#request = placed === null ? request : { ...request, body: placed.body };
    this.#lost = placed?.isDropped === true ? [CACHE_MARK] : [];
    this.#tools = tools;
    this.#signer = state.signerOf(credential);
    this.#memory = state.memoryOf(credential, key);
    this.#isCount = request.operation === 'count_tokens';
    const doors = this.#isCount ? countersFor(model, credential.settings) : doorsFor(model, credential.settings);
    const learned = this.#isCount || doors.length === 1 ? null : this.#memory.doorAt(state.nowMs());
    this.#isOpen = !this.#isCount && doors.length > 1 && learned === null;
    const [first = doors[0], ...left] = (learned === null ? doors : [learned]).filter((name) => this.#offers(name));
    this.#door = first;
    this.#left = left;
  }

  start(listener: ExchangeListener): UpstreamTap {
    const tap = openResending(this.#open(), (ending) => this.#after(ending), listener);
    this.#tap = tap;
    this.#describe();
    return tap;
  }

  #offers(name: DoorName): boolean {
    const { protocol, operation } = this.#request;
    const { doors, nowMs } = this.#state;
    const { model, credential } = this.#tools;
    if (this.#isCount && this.#memory.refusesCounts(name, nowMs())) return false;
    return doors[name].endpoint(protocol, operation, model, credential.settings) !== null;
  }

  /** Tells of the exchange that goes out. */
  #describe(): void {
    if (this.#tap === null) return;
    this.#tap.dropped = this.#dropped;
    this.#tap.door = this.#door;
  }

  #open(): OpenExchange {
    const request = this.#request;
    const { doors, nowMs } = this.#state;
    if (!this.#offers(this.#door)) return openNothing;
    let sent = request;
    if (request.protocol === 'messages') {
      if (this.#door === 'runtime') this.#invoked ??= adaptTools(request.body);
      const tools = this.#door === 'runtime' ? this.#invoked : null;
      const asked = readBetas(request.headers);
      const all = tools === null ? asked : [...new Set([...asked, ...tools.betas.keys()])];
      const chosen = chooseBetas(all, this.#door, true);
      const refused = !this.#takesBetas || this.#memory.refuses(this.#door, chosen.sent, nowMs());
      const { sent: betas, dropped } = refused ? chooseBetas(all, this.#door, false) : chosen;
      const named = dropped.flatMap((beta) => [
        ...(asked.includes(beta) ? [memberOf(beta)] : []),
        ...(tools?.betas.get(beta) ?? []),
      ]);
      this.#betas = betas;
      const given = tools?.body ?? request.body;
      const body = dropped.some(isScopeBeta) ? withoutCacheScopes(given) : given;
      const scopes = body === given ? [] : [CACHE_SCOPE];
      this.#dropped = dropMembers([...(tools?.changed ?? []), ...named, ...scopes, ...this.#lost], request.strict);
      sent = { ...request, headers: withBetas(request.headers, betas), body };
    }
    this.#describe();
    const door = doors[this.#door];
    const open = this.#tools.send(door, sent, (final, credential) => this.#authorize(final, credential, door.service));
    if (this.#isCount && this.#door === 'runtime' && request.protocol === 'messages') {
      return (listener) => open(new CountReader(listener));
    }
    return (listener) => open(this.#noting(listener));
  }

  #authorize(final: FinalRequest, credential: RequestCredential, service: string): Promise<void> | void {
    const region = credential.settings.region ?? '';
    const hide: RequestCredential['hide'] = (token) => credential.hide(token);
    return this.#signer.authorize(final, hide, { region, service }, (signed) => {
      this.#signed = signed;
    });
  }

  /** An answer shows that the service has the model. */
  #noting(listener: ExchangeListener): ExchangeListener {
    if (!this.#isOpen) return listener;
    return {
      onHead: (head) => {
        if (head.status === 200) this.#memory.noteDoor(this.#door, this.#state.nowMs());
        listener.onHead(head);
      },
      onBody: (span) => listener.onBody(span),
      onEnd: () => listener.onEnd(),
      onFailure: (failure) => listener.onFailure(failure),
    };
  }

  #after(ending: Ending): OpenExchange | Ending {
    const request = this.#request;
    if (!('head' in ending)) {
      // Without keys no service takes the request.
      const isFinal = ending.sent || ending.kind === 'authorization';
      return isFinal ? ending : (this.#nextDoor(NO_COUNT.head) ?? (this.#isCount ? NO_COUNT : ending));
    }
    const { head } = ending;
    if (head === NO_COUNT.head) return ending;
    const signed = this.#signedAnew ? null : this.#signed;
    if (signed !== null && this.#signer.learn(exceptionOf(ending), headerOf(head, 'date'), signed)) {
      this.#signedAnew = true;
      return this.#openAfter(head);
    }
    if (this.#isCount && refusesToCount(ending)) {
      this.#memory.noteNoCounts(this.#door, this.#state.nowMs());
      return this.#nextDoor(head) ?? NO_COUNT;
    }
    const isElsewhere = head.status === 403 || head.status === 404;
    const next = isElsewhere ? this.#nextDoor(head) : null;
    if (next !== null) return next;
    if (this.#betas.length > 0 && request.strict !== true && refusesBetas(ending)) {
      this.#memory.noteRefusal(this.#door, this.#betas, this.#state.nowMs());
      this.#takesBetas = false;
      return this.#openAfter(head);
    }
    return request.protocol === 'converse' ? ending : withCode(ending);
  }

  #nextDoor(head: ResponseHead): OpenExchange | Refusal | null {
    const next = this.#left.shift();
    if (next === undefined) return null;
    this.#door = next;
    return this.#openAfter(head);
  }

  /** `head`: of the refusal before. */
  #openAfter(head: ResponseHead): OpenExchange | Refusal {
    try {
      return this.#open();
    } catch (error) {
      // The key is strict, and only now something would be dropped.
      if (!(error instanceof CallFailure)) throw error;
      return refuse(head, error.message);
    }
  }
}

/** Answers where no service has the operation: the gateway then estimates the tokens. */
const openNothing: OpenExchange = (listener) => {
  let isAborted = false;
  queueMicrotask(() => {
    if (isAborted) return;
    listener.onHead(NO_COUNT.head);
    listener.onEnd();
  });
  return {
    sentAtMs: 0,
    headAtMs: 0,
    lastByteAtMs: 0,
    pause: () => undefined,
    resume: () => undefined,
    abort() {
      isAborted = true;
    },
  };
};
