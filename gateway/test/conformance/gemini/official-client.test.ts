/**
 * Tests that Google's own client sends, for generated conversations, the bodies that the gateway renders: a member that
 * the client does not know would be missing.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { startTranslationNotes } from '../../../src/protocols/request/translation-notes.ts';
import { CAPABLE } from '../../../src/protocols/testing/capable-upstream.ts';
import { NEEDS_CLIENTS } from '../../e2e-clients/installed-clients.ts';
import { SEED } from '../../harness/exhaustive.ts';
import { randomRequest } from '../translation/conversations/random-requests.ts';
import type { Json } from '../wire-text.ts';
import { answerOf, GEMINI } from './rig.ts';

const RUNS = process.env.TOLLGATE_EXHAUSTIVE === '1' ? 1_000 : 40;
const CLIENTS = join(import.meta.dir, '../../clients');
const isInstalled = existsSync(join(CLIENTS, 'node_modules/@google/genai/package.json'));

const received: Json[] = [];
let recorder: ReturnType<typeof Bun.serve>;
beforeAll(() => {
  recorder = Bun.serve({
    port: 0,
    async fetch(request) {
      received.push((await request.json()) as Json);
      return Response.json(answerOf([{ text: 'At noon.' }]));
    },
  });
});
afterAll(() => recorder.stop(true));

type Send = (baseUrl: string, model: string, body: Json) => Promise<void>;

/** The value with the members of all objects in one order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(members.map(([name, one]) => [name, sorted(one)]));
}

test.skipIf(!isInstalled)(
  `generated conversations are sent equal by Google's client ${NEEDS_CLIENTS}`,
  async () => {
    const { sendWithGoogle }: { readonly sendWithGoogle: Send } = await import(join(CLIENTS, 'google-genai.ts'));
    await fc.assert(
      fc.asyncProperty(randomRequest, fc.constantFrom('gemini-2.5-pro', 'gemini-3-flash'), async (request, model) => {
        const notes = startTranslationNotes(false);
        const rendered = GEMINI.renderRequest(request, { ...CAPABLE, model }, notes).json;
        // A number that a double cannot hold is null in a body of the client's.
        const body: Json = JSON.parse(JSON.stringify(JSON.parse(rendered)));
        await sendWithGoogle(`http://127.0.0.1:${recorder.port}`, model, body);
        // The client sends the member even where it is empty.
        expect(sorted({ generationConfig: {}, ...received.pop() })).toEqual(sorted({ generationConfig: {}, ...body }));
      }),
      { numRuns: RUNS, seed: SEED },
    );
  },
  120_000,
);
