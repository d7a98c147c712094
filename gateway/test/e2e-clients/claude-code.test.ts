/**
 * Tests Claude Code through the gateway: headless sessions with an upstream of its own format and with chat
 * completions.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import type { Scenario } from '../fake-upstream/scenario.ts';
import type { Pair } from '../harness/start-pair.ts';
import { holdChatRequest } from './chat-request-shape.ts';
import { bodyOf, ROUTES, type Route, startClientsRig } from './clients-rig.ts';
import { findClaudeCode, NEEDS_CLIENTS } from './installed-clients.ts';
import { receivedIn } from './received-conversation.ts';
import { type RecordingProxy, startRecordingProxy } from './recording-proxy.ts';
import { makeSessionFolder, type SessionFolder } from './run-agent.ts';
import { runClaudeCode, type Session } from './run-claude-code.ts';

/** Start of the first block of its instructions, which differs in each session (Claude Code 2.1.329). */
const ATTRIBUTION = 'x-anthropic-billing-header:';
const ANSWER = 'The words are marmalade and quince 🍋.';
const DOT_PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

interface Call {
  readonly id: string;
  readonly name: string;
  readonly input: Readonly<Record<string, string>>;
}

const program = findClaudeCode();

describe.skipIf(program === null)(`Claude Code ${NEEDS_CLIENTS}`, () => {
  let pair: Pair;
  let proxy: RecordingProxy;
  let folder: SessionFolder;
  beforeAll(async () => {
    pair = await startClientsRig();
  });
  beforeEach(() => {
    pair.fake.reset();
    proxy = startRecordingProxy(pair.gateway.url);
    const dot = Buffer.from(DOT_PNG, 'base64');
    folder = makeSessionFolder({ 'note.txt': 'The word is marmalade.\n', 'dot.png': dot });
  });
  afterEach(async () => {
    await proxy.stop();
    folder.remove();
  });
  afterAll(() => pair?.stop());

  const run = (route: Route, environment: Readonly<Record<string, string>> = {}): Promise<Session> =>
    runClaudeCode({
      program: program ?? '',
      folder,
      prompt: 'Which words do note.txt and the shell say?',
      model: route.model,
      baseUrl: proxy.url,
      environment: { ANTHROPIC_AUTH_TOKEN: pair.gateway.key, ...environment },
      allowedTools: 'Read,Bash(echo:*),WebSearch',
    });

  const read = (id: string, file: string): Call => ({
    id,
    name: 'Read',
    input: { file_path: join(folder.path, file) },
  });
  const echo = (id: string): Call => ({ id, name: 'Bash', input: { command: 'echo quince', description: 'Says it' } });
  const posts = () => proxy.calls.filter(({ method }) => method === 'POST');

  function expectSuccess({ status, lines, stderr }: Session): void {
    expect({ last: lines.at(-1), stderr }).toMatchObject({
      last: { type: 'result', subtype: 'success', is_error: false, result: ANSWER, permission_denials: [] },
    });
    expect(status).toBe(0);
  }

  for (const route of ROUTES.messages) {
    describe(`${route.translated ? 'translated' : 'native'}: ${route.model} at ${route.upstream}`, () => {
      const script = (...scenarios: readonly Scenario[]) => pair.fake.script(route.upstreamModel, scenarios);
      const served = () => pair.fake.served(route.upstreamModel);
      const callId = (number: number) => `${route.upstream === 'messages' ? 'toolu' : 'call'}_${number}`;
      /** Returns the tool calls and results in the last request that upstream received. */
      const toolsReceived = () => {
        const told = receivedIn(route.upstream, served().map(bodyOf).at(-1));
        return told.filter((one) => !('role' in one));
      };

      /**
       * Native: upstream got exactly Claude Code's bytes. Translated: a body that a strict provider accepts, without
       * the attribution.
       */
      function expectSentWell(): void {
        expect(posts().every(({ body }) => Buffer.from(body).includes(ATTRIBUTION))).toBe(true);
        const bodies = served().map(({ requestBody }) => Buffer.from(requestBody).toString());
        if (!route.translated) {
          expect(bodies).toEqual(posts().map(({ body }) => Buffer.from(body).toString()));
          return;
        }
        for (const body of bodies) {
          holdChatRequest(JSON.parse(body));
          expect(body).not.toContain(ATTRIBUTION);
        }
      }

      test('a session with tools, one alone and two at once, ends well', async () => {
        const [first, second, third] = [read('call_1', 'note.txt'), echo('call_2'), read('call_3', 'note.txt')];
        script(
          { say: { reasoning: 'A file first.', text: 'I read it.', calls: [first] } },
          { say: { calls: [second, third] } },
          { say: { text: ANSWER } },
        );
        expectSuccess(await run(route));
        expect(posts().map(({ status }) => status)).toEqual([200, 200, 200]);
        expect(served().map(({ status, stream, finished }) => ({ status, stream, finished }))).toEqual(
          Array(3).fill({ status: 200, stream: true, finished: 'complete' }),
        );
        expectSentWell();
        const told = (number: number, { name, input }: Call) => ({ call: callId(number), name, input });
        expect(toolsReceived().slice(0, 4)).toEqual([
          told(1, first),
          { result: callId(1), text: expect.stringContaining('The word is marmalade.') },
          told(2, second),
          told(3, third),
        ]);
        // Results come in the order in which the tools finish.
        expect(toolsReceived().slice(4)).toEqual(
          expect.arrayContaining([
            { result: callId(2), text: expect.stringContaining('quince') },
            { result: callId(3), text: expect.stringMatching(/./) },
          ]),
        );
        expect(toolsReceived().length).toBe(6);
      });

      test('an image that a tool read reaches the model', async () => {
        script({ say: { calls: [read('call_1', 'dot.png')] } }, { say: { text: ANSWER } });
        expectSuccess(await run(route));
        expectSentWell();
        const sent = JSON.stringify(bodyOf(served()[1] ?? { requestBody: new Uint8Array() }));
        expect(sent).toContain(route.upstream === 'messages' ? `"data":"${DOT_PNG}"` : `base64,${DOT_PNG}`);
      });

      test('a stream that upstream cuts is asked for again in one piece', async () => {
        script({ answer: 'long:50', cut: { at: 3_000, how: 'fin' } }, { say: { text: ANSWER } });
        expectSuccess(await run(route));
        expect(served().map(({ stream, finished }) => ({ stream, finished }))).toEqual([
          { stream: true, finished: 'cut' },
          { stream: false, finished: 'complete' },
        ]);
        expectSentWell();
      });

      test("its web search, a tool that the provider runs, works where upstream has it; else the model hears of the gateway's refusal", async () => {
        const search = { id: 'call_1', name: 'WebSearch', input: { query: 'marmalade' } };
        const found = route.translated ? [] : [{ say: { text: 'Found: it is made of quinces.' } }];
        script({ say: { calls: [search] } }, ...found, { say: { text: ANSWER } });
        expectSuccess(await run(route, { ENABLE_TOOL_SEARCH: 'false' }));
        const [first, ...others] = posts().map(({ status }) => status);
        // A refused search is retried once, with fewer betas.
        expect([first, others]).toEqual([200, route.translated ? [400, 400, 200] : [200, 200]]);
        expect(served().length).toBe(route.translated ? 2 : 3);
        expect(toolsReceived().at(-1)).toEqual({
          result: callId(1),
          text: expect.stringContaining(route.translated ? 'web_search' : 'made of quinces'),
        });
      });

      test('a key in ANTHROPIC_API_KEY works as well', async () => {
        script({ say: { text: ANSWER } });
        expectSuccess(await run(route, { ANTHROPIC_AUTH_TOKEN: '', ANTHROPIC_API_KEY: pair.gateway.key }));
      });

      test('a spent budget ends the session at once, and it says why', async () => {
        const words = ['--name', 'poor', '--budget-usd', '0.000001', '--json'];
        const { key } = JSON.parse((await pair.gateway.run('keys', 'create', ...words)).stdout);
        const { status, lines } = await run(route, { ANTHROPIC_AUTH_TOKEN: key });
        expect([status, posts().map((call) => call.status)]).toEqual([1, [429]]);
        expect(lines.at(-1)).toMatchObject({
          is_error: true,
          result: expect.stringContaining('budget of this API key'),
        });
      });

      test('a wrong key ends the session at once, without another attempt', async () => {
        const { status, lines } = await run(route, { ANTHROPIC_AUTH_TOKEN: 'tg_wrong' });
        expect(status).toBe(1);
        expect(lines.at(-1)).toMatchObject({ type: 'result', is_error: true });
        expect(posts().map((call) => call.status)).toEqual([401]);
        expect(served()).toEqual([]);
      });
    });
  }
});
