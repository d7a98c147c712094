/**
 * Makes the exchanges of one attempt at Bedrock: at the service that has the model, signed again where the time or the
 * keys were wrong, and without betas where the model refuses them; each at most once.
 */

import type { ExchangeListener, UpstreamTap } from '../../upstream/exchange.ts';
import type { ResponseHead } from '../../upstream/response-head.ts';
import { headerOf } from '../../upstream/response-head.ts';
import type { AwsSigner, Signed } from '../credentials/aws-signer.ts';
import { type Ending, type OpenExchange, openResending } from '../exchanges/chained-exchange.ts';
import { withBetas } from '../hosted/betas-header.ts';
import type { AttemptTools, Door, FinalRequest, RequestCredential, UpstreamRequest } from '../provider.ts';
import { chooseBetas } from './betas.ts';
import type { BedrockMemory } from './memory.ts';
import { type DoorName, doorsFor } from './models.ts';
import { exceptionOf, refusesBetas, withCode, withDelay } from './refusals.ts';

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
  readonly #left: DoorName[];
  /** Which service has the model is not known. */
  readonly #isOpen: boolean;
  #door: DoorName;
  #betas: readonly string[] = [];
  #takesBetas = true;
  #signedAnew = false;
  /** How the last request was signed; null: it was not. */
  #signed: Signed | null = null;
  #dropped: readonly string[] = [];
  #tap: { dropped: readonly string[] } | null = null;

  constructor(state: BedrockState, request: UpstreamRequest, tools: AttemptTools) {
    const { model, key, credential } = tools;
    this.#state = state;
    this.#request = request;
    this.#tools = tools;
    this.#signer = state.signerOf(credential);
    this.#memory = state.memoryOf(credential, key);
    const [first, ...others] = doorsFor(model, credential.settings);
    const known = others.length === 0 ? first : this.#memory.doorAt(state.nowMs());
    this.#door = known ?? first;
    this.#isOpen = known === null;
    this.#left = known === null ? others.filter((name) => this.#offers(name, 'plain')) : [];
  }

  start(listener: ExchangeListener): UpstreamTap {
    const tap = openResending(this.#open(), (ending) => this.#after(ending), listener);
    tap.dropped = this.#dropped;
    this.#tap = tap;
    return tap;
  }

  #offers(name: DoorName, operation: UpstreamRequest['operation']): boolean {
    const { model, credential } = this.#tools;
    return this.#state.doors[name].endpoint(this.#request.protocol, operation, model, credential.settings) !== null;
  }

  #open(): OpenExchange {
    const request = this.#request;
    const { doors, nowMs } = this.#state;
    if (!this.#offers(this.#door, request.operation)) return openNothing;
    let sent = request;
    if (request.protocol === 'messages') {
      const chosen = chooseBetas(request.headers, this.#door, true);
      const refused = !this.#takesBetas || this.#memory.refuses(this.#door, chosen.sent, nowMs());
      const { sent: betas, dropped } = refused ? chooseBetas(request.headers, this.#door, false) : chosen;
      this.#betas = betas;
      this.#dropped = dropped.map((beta) => `anthropic-beta.${beta}`);
      if (this.#tap !== null) this.#tap.dropped = this.#dropped;
      sent = { ...request, headers: withBetas(request.headers, betas) };
    }
    const door = doors[this.#door];
    const open = this.#tools.send(door, sent, (final, credential) => this.#authorize(final, credential, door.service));
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
    if (!('head' in ending)) {
      // Without keys no service takes the request.
      const isFinal = ending.sent || ending.kind === 'authorization';
      return isFinal ? ending : (this.#nextDoor() ?? ending);
    }
    const { head } = ending;
    const signed = this.#signedAnew ? null : this.#signed;
    if (signed !== null && this.#signer.learn(exceptionOf(ending), headerOf(head, 'date'), signed)) {
      this.#signedAnew = true;
      return this.#open();
    }
    const isElsewhere = head.status === 403 || head.status === 404;
    const next = isElsewhere ? this.#nextDoor() : null;
    if (next !== null) return next;
    if (this.#betas.length > 0 && refusesBetas(ending)) {
      this.#memory.noteRefusal(this.#door, this.#betas, this.#state.nowMs());
      this.#takesBetas = false;
      return this.#open();
    }
    const told = withDelay(ending);
    return this.#request.protocol === 'converse' ? told : withCode(told);
  }

  #nextDoor(): OpenExchange | null {
    const next = this.#left.shift();
    if (next === undefined) return null;
    this.#door = next;
    return this.#open();
  }
}

const NOT_IMPLEMENTED: ResponseHead = { status: 501, headers: [], framing: 'none', lengthBytes: 0, keepAlive: true };

/** Answers for a service that does not have the operation: the gateway then counts tokens itself. */
const openNothing: OpenExchange = (listener) => {
  let isAborted = false;
  queueMicrotask(() => {
    if (isAborted) return;
    listener.onHead(NOT_IMPLEMENTED);
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
