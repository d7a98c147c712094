/** Tests that a stream shows exactly what its whole text would, however it is cut: into deltas, and into bytes. */
import { describe, expect, test } from 'bun:test';
import { EXHAUSTIVE } from '../../test/fault/calls.ts';
import type { Json } from '../../test/harness/ask.ts';
import { startCpuClock } from '../../test/harness/cpu-clock.ts';
import { Secret } from '../lib/secret.ts';
import type { ClientProtocolName } from '../protocols/names.ts';
import { sampleGuardrail } from '../store/contracts/guardrails-contract.ts';
import type { GuardrailRule } from '../store/ports/books/guardrails.ts';
import { DETECTORS } from './detectors.ts';
import { loadGuardrails } from './guardrails.ts';
import type { HookParts } from './hook.ts';
import type { SideGuard } from './side-guard.ts';
import { StreamGuard } from './stream-guard.ts';
import { TextChannel } from './text-channel.ts';

/** The sample cuts at every third place. */
const STEP = EXHAUSTIVE ? 1 : 3;
const NO_HOOK = { open: () => null, fetchFor: () => () => Promise.reject(new Error('no hook')) };

async function sideOf(rules: readonly Partial<GuardrailRule>[], hook: HookParts = NO_HOOK): Promise<SideGuard> {
  const stored = rules.map((rule, at) =>
    sampleGuardrail(`gr_${at}`, { account: 'a', name: 'Keys', items: [], action: 'mask', ...rule }),
  );
  const guardrails = await loadGuardrails({ readRules: async () => stored }, new Secret('00'.repeat(32)), hook);
  const side = guardrails.guardOf({ account: { id: 'a' }, workspaceId: 'w' })?.answer;
  if (side == null) throw new Error('there is no rule for answers');
  return side;
}

const ALL = [
  { check: 'secrets' },
  { check: 'personal_data' },
  { check: 'terms', items: ['Project Falcon', 'C++', 'naïve'] },
] as const;

function wholeOf(side: SideGuard, text: string): string {
  const piece = { text, shown: null };
  const channel = new TextChannel(side.masking, () => {});
  channel.add(piece);
  expect(channel.decide(true)).toBeNull();
  return piece.shown ?? '';
}

/** Texts with a match at the beginning, in the middle and at the end, matches side by side, and near misses. */
const TEXTS = [
  ...DETECTORS.map(({ sample }) => sample),
  ...DETECTORS.map(({ sample }) => `é ${sample}, and 7.`),
  'ada@example.com,bob@example.org 4111111111111111 4111 1111 1111 1112 a::b 12:30:45 v1.2.3',
  'on project\nfalcon in C++ and C+; Project Falcons; naïve 😀 naïveté [EMAIL_12345678] sk-short',
  '😀1 415 555 0132😀(415) 555-0132x +1 415 555 0132 and 5 more',
];

test.each(TEXTS)('a text in any two or three pieces shows what the whole shows: %j', async (text) => {
  const side = await sideOf(ALL);
  const whole = wholeOf(side, text);
  for (let first = 0; first <= text.length; first += STEP) {
    for (const second of [first, first + 1, first + 3, text.length]) {
      const channel = new TextChannel(side.masking, () => {});
      const pieces = [text.slice(0, first), text.slice(first, second), text.slice(Math.max(first, second))].map(
        (one) => ({ text: one, shown: null as string | null }),
      );
      let shown = '';
      for (const piece of pieces) {
        channel.add(piece);
        channel.decide(false);
        shown = pieces.map((one) => one.shown ?? '').join('');
        expect(whole.startsWith(shown)).toBeTrue();
      }
      channel.decide(true);
      expect(pieces.map((one) => one.shown).join('')).toBe(whole);
    }
  }
});

interface Streamed {
  /** The records of a stream with these deltas. */
  records(deltas: readonly string[]): string[];
  /** The text that a record adds. */
  textOf(record: Json): string;
}

const sse = (data: object, event?: string) =>
  `${event === undefined ? '' : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`;
const responses = (type: string, members: object) =>
  sse({ type, item_id: 'msg_1', output_index: 0, content_index: 0, ...members }, type);

const STREAMS: { readonly [name in ClientProtocolName]?: Streamed } = {
  chat: {
    records: (deltas) => [
      ...deltas.map((content) => sse({ id: 'x', choices: [{ index: 0, delta: { content }, finish_reason: null }] })),
      sse({ id: 'x', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }),
      'data: [DONE]\n\n',
    ],
    textOf: (record) => record.choices[0]?.delta.content ?? '',
  },
  completions: {
    records: (deltas) => [
      ...deltas.map((text) => sse({ choices: [{ index: 0, text, finish_reason: null }] })),
      'data: [DONE]\n\n',
    ],
    textOf: (record) => record.choices[0].text,
  },
  messages: {
    records: (deltas) => [
      sse({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }, 'content_block_start'),
      ...deltas.map((text) =>
        sse({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }, 'content_block_delta'),
      ),
      sse({ type: 'content_block_stop', index: 0 }, 'content_block_stop'),
      sse({ type: 'message_stop' }, 'message_stop'),
    ],
    textOf: (record) => record.delta?.text ?? '',
  },
  responses: {
    records: (deltas) => [
      ...deltas.map((delta) => responses('response.output_text.delta', { delta, logprobs: [] })),
      responses('response.output_text.done', { text: deltas.join('') }),
      responses('response.completed', {
        response: { output: [{ type: 'message', content: [{ type: 'output_text', text: deltas.join('') }] }] },
      }),
    ],
    textOf: (record) => record.delta ?? '',
  },
  gemini: {
    records: (deltas) =>
      deltas.map((text, at) =>
        sse({
          candidates: [
            {
              content: { parts: [{ text, thoughtSignature: 'EmAiL+sig/==' }], role: 'model' },
              ...(at === deltas.length - 1 && { finishReason: 'STOP' }),
            },
          ],
        }).replaceAll('\n', '\r\n'),
      ),
    textOf: (record) => record.candidates[0].content.parts[0].text,
  },
  audio: {
    records: (deltas) => [
      ...deltas.map((delta) => sse({ type: 'transcript.text.delta', delta })),
      sse({ type: 'transcript.text.done', text: deltas.join('') }),
    ],
    textOf: (record) => record.delta ?? '',
  },
};

const SAID = `Ask ada@example.com 😀 or ${DETECTORS[6].sample}; card 4111 1111 1111 1111.`;

function run(side: SideGuard, protocol: ClientProtocolName, chunks: readonly Uint8Array[]) {
  const put: Uint8Array[] = [];
  const guard = new StreamGuard({
    ...{ guard: side, protocol, counts: new Map(), recordBytesMax: 1e6 },
    subject: { account: 'a', workspace: 'w', key: 'k', model: null },
    onTerminal() {},
    put: (bytes) => void put.push(Buffer.from(bytes)),
  });
  let failure = null;
  for (const chunk of chunks) failure ??= guard.feed(chunk);
  failure ??= guard.finish();
  return { text: Buffer.concat(put).toString(), failure };
}

function cut(text: string, size: number): string[] {
  const units = [...text];
  return Array.from({ length: Math.ceil(units.length / size) }, (_, at) =>
    units.slice(at * size, at * size + size).join(''),
  );
}

describe.each(Object.entries(STREAMS))('a stream of %s', (name, { records, textOf }) => {
  const protocol = name as ClientProtocolName;
  const dataOf = (text: string) =>
    text.split(/\r?\n/).flatMap((line) => (line.startsWith('data: {') ? [JSON.parse(line.slice(6))] : []));

  test('shows what its whole text shows, by deltas of every size', async () => {
    const side = await sideOf(ALL);
    const whole = wholeOf(side, SAID);
    expect(whole.match(/\[[A-Z_]+_[0-9a-f]{8}\]/g)).toHaveLength(3);
    for (let size = 1; size <= SAID.length; size += size < 13 ? 1 : STEP) {
      const sent = records(cut(SAID, size)).join('');
      const got = run(side, protocol, [Buffer.from(sent)]);
      expect(got.failure).toBeNull();
      expect(dataOf(got.text).map(textOf).join('')).toBe(whole);
      expect(dataOf(got.text)).toHaveLength(dataOf(sent).length);
      expect(got.text).not.toContain('ada@');
      expect(got.text).not.toMatch(/1111 ?1/);
    }
  });

  test('shows the same, whatever bytes arrive together', async () => {
    const side = await sideOf(ALL);
    const sent = Buffer.from(records(cut(SAID, 7)).join(''));
    const { text } = run(side, protocol, [sent]);
    for (let at = 0; at < sent.length; at += STEP) {
      expect(run(side, protocol, [sent.subarray(0, at), sent.subarray(at)]).text).toBe(text);
    }
    expect(
      run(
        side,
        protocol,
        [...sent].map((byte) => Uint8Array.of(byte)),
      ).text,
    ).toBe(text);
  });

  test('is the provider’s bytes where nothing is found', async () => {
    const side = await sideOf(ALL);
    const sent = records(cut('Nothing to see here, 42 times.', 4)).join('');
    expect(run(side, protocol, [Buffer.from(sent)]).text).toBe(sent);
  });

  test('ends at what a rule blocks, without a piece of it', async () => {
    const side = await sideOf([{ check: 'personal_data', action: 'block' }]);
    for (let size = 1; size <= 12; size++) {
      const { text, failure } = run(side, protocol, [Buffer.from(records(cut(SAID, size)).join(''))]);
      expect((await failure)?.kind).toBe('guardrail_blocked');
      expect(dataOf(text).map(textOf).join('')).toMatch(/^(?:Ask ?)?$/);
    }
  });
});

test('a secret that is longer than a match may be fails closed, or passes where its rule fails open', async () => {
  const long = `sk-${'a'.repeat(5_000)}`;
  for (const failsOpen of [false, true]) {
    const side = await sideOf([{ check: 'secrets', failsOpen }]);
    const { text, failure } = run(side, 'chat', [
      Buffer.from((STREAMS.chat as Streamed).records(cut(long, 100)).join('')),
    ]);
    expect((await failure)?.message).toBe(
      failsOpen
        ? undefined
        : 'the guardrail "Keys" cannot check this answer: what it found may be longer than 4096 characters',
    );
    expect(text.includes('aaaa')).toBe(failsOpen);
  }
});

test.each([
  ['events that wait', 'chat', sse({ choices: [{ index: 0, delta: { content: 'ada' } }] }) + ':\n\n'.repeat(100_000)],
  [
    'open texts',
    'messages',
    Array.from({ length: 1_001 }, (_, index) =>
      sse({ type: 'content_block_delta', index, delta: { type: 'text_delta', text: 'a ' } }),
    ).join(''),
  ],
] as const)('too many %s fail closed, or pass where the rule fails open', async (_, protocol, sent) => {
  for (const failsOpen of [false, true]) {
    const side = await sideOf([{ check: 'personal_data', failsOpen }]);
    const { text, failure } = run(side, protocol, [Buffer.from(sent)]);
    expect((await failure)?.kind).toBe(failsOpen ? undefined : 'guardrail_blocked');
    if (failsOpen) expect(text).toBe(sent);
  }
});

test('tool arguments and signed reasoning are never masked, only blocked', async () => {
  const call = { index: 0, id: 'call_1', function: { name: 'send', arguments: '{"to":"ada@example.com"}' } };
  const chat = [sse({ choices: [{ index: 0, delta: { tool_calls: [call] } }] }), 'data: [DONE]\n\n'].join('');
  const thought = { type: 'thinking_delta', thinking: 'ada@example.com' };
  const messages = [
    sse({ type: 'content_block_delta', index: 0, delta: thought }),
    sse({ type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'ada@example.com' } }),
  ].join('');
  for (const [protocol, sent] of [
    ['chat', chat],
    ['messages', messages],
  ] as const) {
    expect(run(await sideOf(ALL), protocol, [Buffer.from(sent)]).text).toBe(sent);
    const { failure } = run(await sideOf([{ check: 'personal_data', action: 'block' }]), protocol, [Buffer.from(sent)]);
    expect((await failure)?.kind).toBe('guardrail_blocked');
  }
});

describe.each([`\nghp_${'aB3d'.repeat(9)}`, '\tProject Falcon', '4111111111111111'])(
  'tool arguments with %j',
  (found) => {
    const json = JSON.stringify({ text: `x${found}` }).replace('4111', '\\u0034111');
    const block = ALL.map((rule) => ({ ...rule, action: 'block' as const }));
    const chat = (text: string) =>
      sse({ choices: [{ index: 0, delta: { tool_calls: [{ index: 0, function: { arguments: text } }] } }] });
    const messages = (partial_json: string) =>
      sse({ type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json } });
    const items = (delta: string) => responses('response.function_call_arguments.delta', { delta });

    test.each([
      ['chat', chat],
      ['messages', messages],
      ['responses', items],
    ] as const)('are blocked in a stream of %s, however they are cut', async (protocol, record) => {
      const side = await sideOf(block);
      for (let size = 1; size <= json.length; size++) {
        const { text, failure } = run(side, protocol, [Buffer.from(cut(json, size).map(record).join(''))]);
        expect((await failure)?.kind).toBe('guardrail_blocked');
        expect(text).not.toContain('Falcon');
      }
    });
  },
);

test('a hook is asked about tool arguments, which it can block and not replace', async () => {
  const sent = ['{"to":"ada', '@example.com"}']
    .map((text) => sse({ choices: [{ index: 0, delta: { tool_calls: [{ function: { arguments: text } }] } }] }))
    .join('');
  for (const answer of [{ action: 'block' }, { action: 'replace', texts: ['other'] }]) {
    let asked: Json = null;
    const hook: HookParts = {
      open: () => ({ url: new Secret('https://hook.example'), signing: new Secret('whsec_a') }),
      fetchFor: () => async (_, init) => {
        asked = JSON.parse(String(init?.body));
        return Response.json(answer);
      },
    };
    const side = await sideOf([{ check: 'hook', timeoutMs: 1_000 }], hook);
    const got = run(side, 'chat', [Buffer.from(sent)]);
    expect((await got.failure)?.kind).toBe(answer.action === 'block' ? 'guardrail_blocked' : undefined);
    expect(asked?.texts).toEqual(['{"to":"ada@example.com"}']);
  }
});

test('80,000 pieces of a text for a hook take time linear in their number', async () => {
  const hook: HookParts = {
    open: () => ({ url: new Secret('https://hook.example'), signing: new Secret('whsec_a') }),
    fetchFor: () => async () => Response.json({ action: 'allow' }),
  };
  const side = await sideOf([{ check: 'hook', timeoutMs: 1_000 }], hook);
  const sent = Buffer.from('data: {"choices":[{"delta":{"content":"a"}}]}\n\n'.repeat(80_000));
  const elapsed = startCpuClock();
  const { failure } = run(side, 'chat', [sent]);
  expect(await failure).toBeNull();
  expect(elapsed()).toBeLessThan(6_000);
}, 60_000);

test('digits of tool arguments in a piece of their own are checked', async () => {
  const sent = ['{"card":"', '4111111111111111', '"}']
    .map((text) => sse({ choices: [{ index: 0, delta: { tool_calls: [{ function: { arguments: text } }] } }] }))
    .join('');
  const { failure } = run(await sideOf([{ check: 'personal_data', action: 'block' }]), 'chat', [Buffer.from(sent)]);
  expect((await failure)?.kind).toBe('guardrail_blocked');
});

test('token probabilities, which spell the text, are left out', async () => {
  const logprobs = { content: [{ token: 'ada@', logprob: -1, bytes: [97] }] };
  const sent = sse({ choices: [{ index: 0, delta: { content: 'hi' }, logprobs }] });
  expect(run(await sideOf(ALL), 'chat', [Buffer.from(sent)]).text).toBe(sent.replace(JSON.stringify(logprobs), 'null'));
});

test('an event that is not JSON fails closed', async () => {
  const { failure } = run(await sideOf(ALL), 'chat', [Buffer.from('data: {"choices":[{\n\n')]);
  expect((await failure)?.kind).toBe('guardrail_blocked');
});
