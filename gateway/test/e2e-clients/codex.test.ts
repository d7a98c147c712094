/**
 * Tests Codex through the gateway: headless sessions with an upstream of each format, and how many requests it makes when
 * one fails. Contract, 10.11; specification of the Responses API, H.1.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { SIGNATURE } from '../fake-upstream/answer/messages-answer.ts';
import { SEAL } from '../fake-upstream/answer/responses-answer.ts';
import type { ClientFormat } from '../fake-upstream/protocol.ts';
import type { Scenario } from '../fake-upstream/scenario.ts';
import { exhaustiveTest, firstOrAll } from '../harness/exhaustive.ts';
import type { Pair } from '../harness/start-pair.ts';
import { holdChatRequest } from './chat-request-shape.ts';
import { bodyOf } from './clients-rig.ts';
import { FORMATS, modelOf, type Scene, startCodexRig, TRANSPORT_NAMES } from './codex-rig.ts';
import { findCodex, NEEDS_CLIENTS } from './installed-clients.ts';
import { holdMessagesRequest } from './messages-request-shape.ts';
import { type RequestCounter, startRequestCounter } from './request-counter.ts';
import { makeSessionFolder, runAgent, type SessionFolder } from './run-agent.ts';
import { type CodexSession, configureCodex, OFFLINE, runCodex, set, type Transport } from './run-codex.ts';

const ANSWER = 'The words are marmalade and quince 🍋.';
const THOUGHT = 'A file first.';
const PATCH = '*** Begin Patch\n*** Add File: new.txt\n+quince\n*** End Patch\n';
const DOT_PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** The stream breaks off after its first texts. */
const CUT: Scenario = { answer: 'long:200', cut: { at: 6_000, how: 'fin' } };

/** 700 characters are 100 tokens of the fake upstream. */
const LONG = 'x'.repeat(700);
const SUMMARY = 'It said quince.';

/** A provider's answer to `compaction_trigger`. */
const COMPACTED: Scenario = { records: compactionRecords() };

function compactionRecords(): string[] {
  const item = { id: 'cmp_1', type: 'compaction', encrypted_content: SEAL };
  const usage = { input_tokens: 11, output_tokens: 2, total_tokens: 13 };
  const response = {
    id: 'resp_cmp',
    object: 'response',
    created_at: 1_800_000_000,
    model: 'm',
    output: [],
    error: null,
  };
  const events = [
    { type: 'response.created', response: { ...response, status: 'in_progress' } },
    { type: 'response.output_item.added', output_index: 0, item },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: { ...response, status: 'completed', output: [item], usage } },
  ];
  return events.map(
    (event, sequence_number) => `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number })}\n\n`,
  );
}

const REFUSED = { message: 'there is no such thing', type: 'invalid_request_error' };
const REFUSAL: Readonly<Record<ClientFormat, object>> = {
  responses: { error: { ...REFUSED, code: null, param: null } },
  'chat-completions': { error: { ...REFUSED, code: null, param: null } },
  messages: { type: 'error', error: REFUSED },
};

const doctorReport = z.object({ checks: z.record(z.string(), z.looseObject({ status: z.string() })) });

const program = findCodex();

const shell = (id: string, cmd: string) => ({ id, name: 'exec_command', input: { cmd } });

/** A failed test names what is missing, not the 50 KB in which it is. */
const missingIn = (body: string | undefined, words: readonly string[]) => words.filter((word) => !body?.includes(word));

/** Where each format carries the reasoning of an earlier answer. */
const KEPT: Readonly<Record<ClientFormat, string>> = {
  responses: `"encrypted_content":"${SEAL}"`,
  'chat-completions': `"reasoning_content":"${THOUGHT}"`,
  messages: `"signature":"${SIGNATURE}"`,
};

describe.skipIf(program === null)(`Codex ${NEEDS_CLIENTS}`, () => {
  let pair: Pair;
  let counter: RequestCounter;
  let folder: SessionFolder;
  beforeAll(async () => {
    pair = await startCodexRig();
  });
  beforeEach(async () => {
    pair.fake.reset();
    counter = await startRequestCounter(pair.gateway.url);
    folder = makeSessionFolder({ 'note.txt': 'The word is marmalade.\n', 'dot.png': Buffer.from(DOT_PNG, 'base64') });
  });
  afterEach(() => {
    counter.stop();
    folder.remove();
  });
  afterAll(() => pair?.stop());

  const plan = (transport: Transport, model: string, key = pair.gateway.key) => ({
    program: program ?? '',
    folder,
    transport,
    baseUrl: counter.url,
    key,
    model,
  });
  const statuses = () => counter.requests().map(({ path, status }) => [path, status]);
  /** The requests of sessions in which nothing fails: over WebSocket each has one, whatever it asks for. */
  const ok = (transport: Transport, count: number, sessions = 1) =>
    transport === 'post' ? Array(count).fill(['/v1/responses', 200]) : Array(sessions).fill(['/v1/responses', 101]);
  const messagesOf = ({ lines }: CodexSession) =>
    lines.flatMap(({ item }) => (item?.type === 'agent_message' ? [item.text] : []));

  function expectSuccess(session: CodexSession): void {
    expect({ status: session.status, said: messagesOf(session).at(-1), stderr: session.stderr }).toMatchObject({
      status: 0,
      said: ANSWER,
    });
  }

  describe.each(TRANSPORT_NAMES)('over %s', (transport) => {
    describe.each(FORMATS)('upstream %s', (format) => {
      const model = modelOf(format, 'session', transport);
      const run = (...words: string[]) => runCodex({ ...plan(transport, model), words });
      const script = (...scenarios: readonly Scenario[]) => pair.fake.script(model, scenarios);
      /** The bodies that upstream received; those that the gateway wrote are checked against their format. */
      function sentBodies(): string[] {
        const bodies = pair.fake.served(model).map(bodyOf);
        for (const body of bodies) {
          if (format === 'messages') holdMessagesRequest(body);
          if (format === 'chat-completions') holdChatRequest(body);
        }
        return bodies.map((body) => JSON.stringify(body));
      }

      test('a session with a command, a patch and two calls at once ends well, its reasoning kept', async () => {
        script(
          { say: { reasoning: THOUGHT, calls: [shell('call_1', 'cat note.txt')] } },
          { say: { calls: [{ id: 'call_2', name: 'apply_patch', input: { input: PATCH }, custom: true }] } },
          { say: { calls: [shell('call_3', 'cat new.txt'), shell('call_4', 'echo lemon')] } },
          { say: { text: ANSWER } },
        );
        expectSuccess(await run('Which words do the files say?'));
        expect(statuses()).toEqual(ok(transport, 4));
        expect(readFileSync(join(folder.path, 'new.txt'), 'utf8')).toBe('quince\n');
        const sent = sentBodies();
        expect(sent).toHaveLength(4);
        expect(sent.slice(1).filter((body) => !body.includes(KEPT[format]))).toEqual([]);
        expect(missingIn(sent.at(-1), ['The word is marmalade.', '*** Add File: new.txt', 'lemon'])).toEqual([]);
      });

      test('an image reaches the model', async () => {
        script({ say: { text: ANSWER } });
        expectSuccess(await run('What is in it?', '--image', join(folder.path, 'dot.png')));
        expect(statuses()).toEqual(ok(transport, 1));
        const [sent] = sentBodies();
        expect(
          missingIn(sent, [format === 'messages' ? '"media_type":"image/png"' : 'data:image/png;base64,']),
        ).toEqual([]);
      });

      test('a session that continues has its reasoning and its answers', async () => {
        script({ say: { reasoning: THOUGHT, text: 'One.' } }, { say: { text: ANSWER } });
        expect(messagesOf(await run('How many?'))).toEqual(['One.']);
        const resumed = await run('resume', '--last', 'And now?');
        expectSuccess(resumed);
        expect(statuses()).toEqual(ok(transport, 2, 2));
        const records = await pair.gateway.calls('--limit', '2');
        expect(records.map(({ session }) => session)).toEqual(Array(2).fill(resumed.lines[0]?.thread_id));
        expect(missingIn(sentBodies().at(-1), [KEPT[format], 'How many?', 'One.', 'And now?'])).toEqual([]);
      });

      /** A turn whose first answer fills the context; Codex then asks for a summary, and continues with that alone. */
      const fill = { say: { text: LONG, calls: [shell('call_1', 'echo quince')] } };
      const FULL = set('model_auto_compact_token_limit', 60);

      const testOfFormat = format === FORMATS[0] ? test : exhaustiveTest;
      testOfFormat('a conversation that it compacts by itself goes on from the summary', async () => {
        script(fill, { say: { text: SUMMARY } }, { say: { text: ANSWER } });
        expectSuccess(await run(...FULL, 'Hello?'));
        // With the summary it opens another WebSocket.
        expect(statuses()).toEqual(ok(transport, 3, 2));
        const [, asked, last] = sentBodies();
        expect(missingIn(asked, ['CONTEXT CHECKPOINT COMPACTION', LONG])).toEqual([]);
        expect(missingIn(last, [SUMMARY, LONG])).toEqual([LONG]);
      });

      // Its built-in provider speaks WebSocket where it can.
      if (transport === 'websocket') {
        test('a conversation that it has the provider compact goes on from the compaction', async () => {
          script(fill, format === 'responses' ? COMPACTED : { say: { text: SUMMARY } }, { say: { text: ANSWER } });
          const words = [...FULL, 'Hello?'];
          expectSuccess(await runCodex({ ...plan(transport, model), words, asOpenAi: true }));
          const [, asked, last] = sentBodies();
          const [trigger, summary] =
            format === 'responses' ? ['"type":"compaction_trigger"', SEAL] : ['Summarize the conversation', SUMMARY];
          expect(missingIn(asked, [trigger, LONG])).toEqual([]);
          expect(missingIn(last, [summary, LONG])).toEqual([LONG]);
        });
      }
    });

    test('its doctor finds nothing wrong with the gateway', async () => {
      configureCodex(plan(transport, modelOf('responses', 'session', transport)));
      const { status, stdout } = await runAgent([program ?? '', 'doctor', '--json'], folder, OFFLINE);
      const { checks } = doctorReport.parse(JSON.parse(stdout));
      // The newest version is at GitHub.
      const faults = Object.entries(checks).filter(
        ([name, check]) => check.status !== 'ok' && name !== 'updates.status',
      );
      expect([status, faults]).toEqual([0, []]);
      expect(Object.keys(checks)).toContain('network.provider_reachability');
    });

    describe.each(firstOrAll(FORMATS))('when it fails, upstream %s', (format) => {
      /** Runs a turn and returns how it ended, with the statuses of its requests. */
      async function turn(scene: Scene, scenarios: readonly Scenario[], key?: string) {
        const model = modelOf(format, scene, transport);
        if (scenarios.length > 0) pair.fake.script(model, scenarios);
        const session = await runCodex({ ...plan(transport, model, key), words: ['Hello?'] });
        const failure = session.lines.find(({ type }) => type === 'turn.failed')?.error?.message;
        const statuses = counter.requests().map(({ status }) => status);
        return { session, failure, statuses, served: pair.fake.served(model).length };
      }
      /** The statuses of a turn; a WebSocket on which a response fails is not used again. */
      const sent = (...statuses: readonly number[]) => (transport === 'post' ? [...statuses] : statuses.map(() => 101));

      test('a failed upstream ends the turn after one request', async () => {
        const { failure, statuses, session, served } = await turn('down', [{ status: 500, errorBodyBytes: 100 }]);
        expect([session.status, statuses, served]).toEqual([1, sent(200), 1]);
        expect(failure).toContain('at capacity');
      });

      test('a rate limit is retried once, when `retry-after` says', async () => {
        const limit = { status: 429, headers: { 'retry-after': '1' }, errorBodyBytes: 100 };
        const { session, statuses, served } = await turn('limited', [limit, { say: { text: ANSWER } }]);
        expectSuccess(session);
        expect([statuses, served]).toEqual([sent(429, 200), 2]);
      });

      // Five seconds, which the gateway then says.
      exhaustiveTest('a rate limit without `retry-after` is retried once as well', async () => {
        const limit = { status: 429, errorBodyBytes: 100 };
        const { session, statuses, served } = await turn('limited-silently', [limit, { say: { text: ANSWER } }]);
        expectSuccess(session);
        expect([statuses, served]).toEqual([sent(429, 200), 2]);
      });

      test('a spent budget ends the turn after one request, and Codex says whose', async () => {
        const words = ['--name', 'poor', '--budget-usd', '0.000001', '--json'];
        const { id, key } = JSON.parse((await pair.gateway.run('keys', 'create', ...words)).stdout);
        const { session, failure, statuses } = await turn('session', [], key);
        expect([session.status, statuses]).toEqual([1, sent(429)]);
        expect(await pair.gateway.calls('--key', id)).toMatchObject([{ status: 429, error: 'quota_exceeded' }]);
        expect(failure).toContain('the budget of this API key');
      });

      test('a refused request ends the turn after one request, with the words of the refusal', async () => {
        const refusal = { status: 400, json: REFUSAL[format] };
        const { session, failure, statuses, served } = await turn('rejecting', [refusal]);
        expect([session.status, statuses, served]).toEqual([1, sent(400), 1]);
        expect(failure).toContain('no such thing');
      });

      test('a stream that upstream cuts is requested again', async () => {
        const { session, statuses, served } = await turn('cut-once', [CUT, { say: { text: ANSWER } }]);
        expectSuccess(session);
        expect([statuses, served]).toEqual([sent(200, 200), 2]);
      });

      /** After its last attempt over WebSocket, Codex makes as many by POST. */
      const fallBack = (status: number) => (transport === 'post' ? [] : Array(6).fill(status));

      exhaustiveTest('a stream that is always cut is requested six times', async () => {
        const { session, statuses } = await turn('cut-always', [CUT]);
        expect([session.status, statuses]).toEqual([1, [...sent(...Array(6).fill(200)), ...fallBack(200)]]);
      });

      exhaustiveTest('an invalid key is tried six times, and its message says what is wrong', async () => {
        const { session, failure, statuses } = await turn('session', [], 'tg_wrong');
        // Before the first turn it prepares one over WebSocket.
        const first = transport === 'post' ? [] : [401];
        expect([session.status, statuses]).toEqual([1, [...first, ...Array(6).fill(401), ...fallBack(401)]]);
        expect(failure).toContain('the API key is not valid');
      });
    });
  });
});
