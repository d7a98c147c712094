/** Sends requests to a gateway at a steady rate, whether or not it answers, and notes what each client saw. */
import { ask, isComplete } from '../fault/calls.ts';
import type { RunningGateway } from '../harness/start-gateway.ts';

/** A client that has waited this long gives up. */
const PATIENCE_MS = 60_000;

/** One request; times on the `performance.now()` clock. */
export interface SentRequest {
  readonly model: string;
  readonly sentMs: number;
  readonly endMs: number;
  readonly requestId: string;
  /** The client has its whole answer. */
  readonly isWhole: boolean;
  /** The status and the begin of the body, for messages. */
  readonly saw: string;
}

export interface SteadyLoad {
  /** Resolves with all requests once it is stopped and the last one has ended. */
  stop(): Promise<readonly SentRequest[]>;
}

/** Takes the models in turn; `plain`: those that are also asked for answers in one piece, every second time. */
export function startLoad(
  gateway: RunningGateway,
  perSecond: number,
  models: readonly string[],
  plain: ReadonlySet<string>,
): SteadyLoad {
  const requests: Promise<SentRequest>[] = [];
  let isOver = false;

  async function send(number: number): Promise<SentRequest> {
    const model = models[number % models.length] ?? '';
    const isPlain = plain.has(model) && Math.floor(number / models.length) % 2 === 1;
    const asking = { protocol: 'chat', model, stream: !isPlain, signal: AbortSignal.timeout(PATIENCE_MS) } as const;
    const sentMs = performance.now();
    try {
      const answer = await ask(gateway, asking);
      const { status, text, requestId } = answer;
      const isWhole = isComplete(asking, answer);
      return { model, sentMs, endMs: performance.now(), requestId, isWhole, saw: `${status} ${text.slice(0, 200)}` };
    } catch (fault) {
      return { model, sentMs, endMs: performance.now(), requestId: '', isWhole: false, saw: String(fault) };
    }
  }

  const sending = (async () => {
    const startMs = performance.now();
    for (let number = 0; !isOver; number++) {
      const waitMs = startMs + (number * 1_000) / perSecond - performance.now();
      if (waitMs > 1) await Bun.sleep(waitMs);
      requests.push(send(number));
    }
  })();

  return {
    async stop() {
      isOver = true;
      await sending;
      return Promise.all(requests);
    },
  };
}
