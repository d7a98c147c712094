/** Replays recordings through a running gateway, each with its chunkings, and returns what both sides saw. */

import type { Chunking, Scenario } from '../fake-upstream/scenario.ts';
import type { ServedCall } from '../fake-upstream/served.ts';
import type { FakeUpstream } from '../fake-upstream/start-fake-upstream.ts';
import type { CallLine, RunningGateway } from '../harness/start-gateway.ts';
import type { RecordedCall } from './recorded-call.ts';

/** One replay of a recording: the call, and how upstream splits the answer. */
export interface Turn {
  readonly call: RecordedCall;
  readonly chunking: Chunking;
}

/** One call as the client saw it. */
export interface Seen extends Turn {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Buffer;
  readonly requestId: string;
}

/** A call with what upstream got, and its record (null: none, as for token counts). */
export interface Replayed {
  readonly seen: Seen;
  readonly served: ServedCall | null;
  readonly record: CallLine | null;
}

const AT_ONCE = 12;

/** Replays the turns of all recordings; those of one are sequential, so that the fake's script applies in order. */
export async function replayAll(
  recordings: readonly (readonly Turn[])[],
  sides: { readonly fake: FakeUpstream; readonly gateway: RunningGateway },
): Promise<Replayed[]> {
  const { fake, gateway } = sides;
  const seen: Seen[] = [];
  const waiting = recordings.values();
  const work = async () => {
    for (const turns of waiting) {
      script(fake, turns);
      for (const turn of turns) seen.push(await ask(gateway, turn));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  const records = new Map((await gateway.calls()).map((record) => [record.request_id, record]));
  return seen
    .map((one) => ({ seen: one, served: null, record: records.get(one.requestId) ?? null }))
    .map(joinServed(fake));
}

function script(fake: FakeUpstream, turns: readonly Turn[]): void {
  const call = turns[0]?.call;
  if (call === undefined) return;
  const answer = `rec:${call.recording.id}`;
  const name = call.countOnly ? `count-tokens:${call.upstreamModel}` : call.upstreamModel;
  fake.script(
    name,
    turns.map(({ chunking }): Scenario => ({ answer, chunking })),
  );
}

/** Its words where the machine has no time for the gateway; no recording has them. */
const OVERLOADED = 'the gateway has too many calls open';
const REFUSALS_MAX = 60;

/** A busy machine makes the gateway refuse calls for a while: they are sent again after `retry-after`, as clients do. */
async function ask(gateway: RunningGateway, turn: Turn): Promise<Seen> {
  for (let refusals = 0; ; refusals++) {
    const seen = await askOnce(gateway, turn);
    const isRefused = seen.status === 503 && seen.body.includes(OVERLOADED);
    if (!isRefused || refusals === REFUSALS_MAX) return seen;
    await Bun.sleep(Number(seen.headers.get('retry-after')) * 1_000);
  }
}

async function askOnce(gateway: RunningGateway, { call, chunking }: Turn): Promise<Seen> {
  const response = await fetch(`${gateway.url}${call.path}`, {
    method: 'POST',
    headers: { ...call.headers, authorization: `Bearer ${gateway.key}` },
    body: call.sent,
  });
  const body = Buffer.from(await response.arrayBuffer());
  const requestId = response.headers.get('x-request-id') ?? '';
  return { call, chunking, status: response.status, headers: response.headers, body, requestId };
}

/** The n-th call of a model on the client's side is the n-th that upstream served. */
function joinServed(fake: FakeUpstream): (replayed: Replayed) => Replayed {
  const served = new Map<string, ServedCall[]>();
  for (const call of fake.served()) {
    const calls = served.get(call.model ?? '') ?? [];
    calls.push(call);
    served.set(call.model ?? '', calls);
  }
  return (replayed) => ({ ...replayed, served: served.get(replayed.seen.call.upstreamModel)?.shift() ?? null });
}
