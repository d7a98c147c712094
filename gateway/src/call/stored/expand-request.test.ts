/** Tests the cost of many references to one kept response; stored-here.test.ts has their meaning. */
import { expect, test } from 'bun:test';
import { startCpuClock } from '../../../test/harness/cpu-clock.ts';
import { CallFailure } from '../../errors/call-failure.ts';
import { responsesClient } from '../../protocols/responses/client/client-protocol.ts';
import { CONTEXT, outlineOf } from '../../protocols/testing/outline-of.ts';
import type { StoredRow } from '../../store/ports/stored-state.ts';
import type { Identified } from '../call.ts';
import { expandRequest } from './expand-request.ts';

const ITEMS = Array.from({ length: 5_000 }, (_, at) => ({
  type: 'message',
  id: `msg_${at}`,
  content: 'x'.repeat(200),
}));
const RESPONSE = JSON.stringify({ id: 'resp_1', output: ITEMS });

/** A call with a body of so many references to items of the response. */
async function expand(references: number, bodyBytesMax: number) {
  const input = Array.from({ length: references }, (_, at) => ({ type: 'item_reference', id: `msg_${at % 5_000}` }));
  const outline = outlineOf({ model: 'm', input });
  const facts = responsesClient.checkRequest(outline, CONTEXT);
  let reads = 0;
  const call = {
    settings: { config: { limits: { ...CONTEXT.limits, bodyBytesMax } } },
    principal: { account: { id: 'a' }, workspaceId: 'w' },
    protocol: responsesClient,
    version: null,
    deps: {
      storedState: {
        async read() {
          reads += 1;
          return { input: '', response: RESPONSE };
        },
      },
    },
  } as unknown as Identified;
  const row = { request_id: 'req_1' } as StoredRow;
  const kept = (facts.stored ?? []).map((reference) => ({ reference, row }));
  const expanded = await expandRequest(call, { outline, facts }, kept);
  return { bytes: expanded.outline.bytes.length, reads };
}

test('a response is read once for all references to it', async () => {
  const cpuMs = startCpuClock();
  const { bytes, reads } = await expand(10_000, 32 * 1024 * 1024);
  expect(reads).toBe(1);
  expect(bytes).toBeGreaterThan(10_000 * 200);
  expect(cpuMs()).toBeLessThan(5_000);
});

test('references that stand for more than a request may have are refused before that is made', async () => {
  const refused: unknown = await expand(100_000, 1024 * 1024).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(CallFailure);
  expect((refused as CallFailure).kind).toBe('body_too_large');
});
