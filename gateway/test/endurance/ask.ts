/** Sends the requests of the endurance proofs and classifies how each ended. */

export interface Target {
  readonly url: string;
  readonly key: string;
}

/** `whole`: a complete answer; `refused`: 503 with `retry-after`, or no connection; `cut`: a stream without its end. */
export type Fate = 'whole' | 'refused' | 'cut' | `failed: ${string}`;

const TERMINAL = 'data: [DONE]';

/** Sends one request. Its connection may be reused. */
export async function ask({ url, key }: Target, model: string, signal?: AbortSignal): Promise<Fate> {
  const stream = !model.startsWith('plain');
  const body = { model, stream, max_tokens: 16, messages: [{ role: 'user', content: 'Hello' }] };
  let reply: Response;
  try {
    reply = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      ...(signal === undefined ? {} : { signal }),
    });
  } catch {
    return 'refused';
  }
  try {
    const text = await reply.text();
    if (reply.status === 503 && reply.headers.has('retry-after')) return 'refused';
    if (reply.status !== 200) return `failed: ${reply.status} ${text.slice(0, 200)}`;
    if (stream) return text.includes(TERMINAL) ? 'whole' : 'cut';
    return text.includes('"usage"') ? 'whole' : 'failed: 200 without usage';
  } catch {
    return 'cut';
  }
}

/** Counts of fates. */
export class Tally {
  readonly counts = new Map<Fate, number>();

  note(fate: Fate): void {
    this.counts.set(fate, (this.counts.get(fate) ?? 0) + 1);
  }

  of(fate: Fate): number {
    return this.counts.get(fate) ?? 0;
  }

  /** Fates other than these. */
  others(...fates: readonly Fate[]): string[] {
    return [...this.counts].filter(([fate]) => !fates.includes(fate)).map(([fate, count]) => `${count} × ${fate}`);
  }

  toString(): string {
    return [...this.counts].map(([fate, count]) => `${count} ${fate}`).join(', ');
  }
}

/** Makes `count` requests, so many at a time. */
export async function askMany(count: number, atOnce: number, send: (index: number) => Promise<Fate>): Promise<Tally> {
  const tally = new Tally();
  let next = 0;
  const work = async () => {
    while (next < count) tally.note(await send(next++));
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return tally;
}

/** Begins `perSecond` requests a second for so long, whatever becomes of them, and waits for all. */
export async function askSteadily(seconds: number, perSecond: number, send: () => Promise<Fate>): Promise<Tally> {
  const tally = new Tally();
  const running = new Set<Promise<void>>();
  const startMs = performance.now();
  const total = seconds * perSecond;
  let begun = 0;
  while (begun < total) {
    const due = Math.min(total, ((performance.now() - startMs) / 1_000) * perSecond);
    for (; begun < due; begun++) {
      const one = send().then((fate) => {
        tally.note(fate);
        running.delete(one);
      });
      running.add(one);
    }
    await Bun.sleep(2);
  }
  await Promise.all(running);
  return tally;
}

/** A value of a sorted list: `part` 0.99 is the 99th percentile. 0: an empty list. */
export function percentile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
}
