/** Tests that a server told to end under load answers every request that it accepted. */
import { expect, test } from 'bun:test';
import { Agent, request } from 'node:http';
import { eventually } from '../harness/eventually.ts';
import { startPair } from '../harness/start-pair.ts';
import { goodBody } from '../http-contract/calls.ts';
import { contractConfig, scriptContractModels } from '../http-contract/contract-config.ts';
import { EXHAUSTIVE } from './calls.ts';

const CLIENTS = 24;
const ROUNDS = EXHAUSTIVE ? 8 : 2;
const LOAD_CALLS = 200;

interface Sent {
  readonly outcome: string;
  readonly id: string | null;
}

/** Sends one call over the agent's connections; `refused` when no connection could be made, so nothing was sent. */
function call(url: string, key: string, agent: Agent, stream: boolean): Promise<Sent> {
  const body = JSON.stringify(goodBody('chat', { stream }));
  return new Promise((resolve) => {
    const sent = request(
      `${url}/v1/chat/completions`,
      {
        method: 'POST',
        agent,
        headers: {
          authorization: `Bearer ${key}`,
          'content-type': 'application/json',
          'content-length': String(body.length),
        },
      },
      (answer) => {
        const id = answer.headers['x-request-id'];
        answer.resume();
        answer.on('end', () => resolve({ outcome: String(answer.statusCode), id: typeof id === 'string' ? id : null }));
        answer.on('error', (error) => resolve({ outcome: `cut: ${error.message}`, id: null }));
      },
    );
    sent.on('error', (error: NodeJS.ErrnoException) => {
      resolve({ outcome: error.code === 'ECONNREFUSED' ? 'refused' : `lost: ${error.code}`, id: null });
    });
    sent.end(body);
  });
}

test(`SIGINT under load, ${ROUNDS} times: every request is answered, or its connection refused before it was sent`, async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const pair = await startPair(contractConfig);
    scriptContractModels(pair.fake);
    const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
    const outcomes = new Map<string, number>();
    const answered: string[] = [];
    try {
      const { url, key } = pair.gateway;
      // A client told to retry later does so.
      const goOn = async (index: number) => {
        for (let outcome = '200'; outcome === '200'; ) {
          const sent = await call(url, key, agent, index % 2 === 0);
          outcome = sent.outcome;
          outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
          if (outcome === '200' && sent.id !== null) answered.push(sent.id);
        }
      };
      const clients = Array.from({ length: CLIENTS }, (_, index) => goOn(index));
      await eventually('the load', () => (outcomes.get('200') ?? 0) >= LOAD_CALLS || outcomes.size > 1 || null, 20_000);
      pair.gateway.signal('SIGINT');
      await Promise.all(clients);
      expect(await pair.gateway.exited).toBe(0);
      expect([...outcomes.keys()].filter((outcome) => !['200', '503', 'refused'].includes(outcome))).toEqual([]);
      const records = new Set((await pair.gateway.calls()).map(({ request_id }) => request_id));
      expect(answered.filter((id) => !records.has(id))).toEqual([]);
      expect(answered.length).toBeGreaterThan(0);
    } finally {
      console.log(`SIGINT under load: ${JSON.stringify(Object.fromEntries(outcomes))}`);
      agent.destroy();
      await pair.stop();
    }
  }
});
