/** Judges the answers that clients got during an outage, and their charges. */
import { recordsById } from '../fault/calls.ts';
import type { RunningGateway } from '../harness/start-gateway.ts';
import type { SentRequest } from './steady-load.ts';

const NAMED_MAX = 5;

/** Throws with examples unless every client got a whole answer. */
export function expectWhole(requests: readonly SentRequest[]): void {
  const lost = requests.filter(({ isWhole }) => !isWhole);
  if (lost.length === 0) return;
  const examples = lost.slice(0, NAMED_MAX).map(({ model, saw }) => `${model}: ${saw}`);
  throw new Error(`${lost.length} of ${requests.length} clients saw a failure:\n${examples.join('\n')}`);
}

/** Throws unless every request has exactly one record, and each whole answer one charge; proves the ledger. */
export async function expectOneBillEach(gateway: RunningGateway, requests: readonly SentRequest[]): Promise<void> {
  const records = await recordsById(gateway);
  for (const { requestId, isWhole, model } of requests) {
    const record = records.get(requestId);
    if (record === undefined) throw new Error(`no record of a request to ${model}`);
    const isCharged = record.cost_nano_usd !== null && record.cost_nano_usd !== '0';
    if (isCharged !== isWhole) throw new Error(`${requestId} to ${model} was charged ${record.cost_nano_usd}`);
    const answering = record.attempts.filter(({ error }) => error === null);
    if (answering.length !== Number(isWhole)) throw new Error(`${requestId}: ${answering.length} attempts answered`);
  }
  const sent = new Set(requests.map(({ requestId }) => requestId));
  const foreign = [...records.keys()].filter((id) => !sent.has(id));
  if (foreign.length > 0) throw new Error(`${foreign.length} records of requests that no client sent`);
  const { status, stdout, stderr } = await gateway.run('verify');
  if (status !== 0) throw new Error(`verify ended with ${status}: ${stdout}${stderr}`);
}

/** How long after `fromMs` the last failure was sent, in milliseconds; 0: none was. */
export function lastFailureAfter(requests: readonly SentRequest[], fromMs: number): number {
  return Math.max(0, ...requests.filter(({ isWhole }) => !isWhole).map(({ sentMs }) => sentMs - fromMs));
}
