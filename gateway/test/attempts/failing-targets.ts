/** Defines the models of the proof of attempts: three targets each, of both formats, whose answers mostly fail. */

import type { Chances } from '../crash/start-chances.ts';
import type { Scenario } from '../fake-upstream/scenario.ts';
import type { FakeUpstream } from '../fake-upstream/start-fake-upstream.ts';
import type { ProtocolName } from '../fault/calls.ts';

export type Form = 'plain' | 'stream';
export const FORMS: readonly Form[] = ['plain', 'stream'];

/** A target: its name at the fake upstream but for the form, its format, and its price in nano-USD per token. */
interface FailingTarget {
  readonly name: string;
  readonly format: ProtocolName;
  readonly price: { readonly input: bigint; readonly output: bigint };
}

const TARGETS: readonly FailingTarget[] = [
  { name: 'first', format: 'chat', price: { input: 1_000n, output: 5_000n } },
  { name: 'second', format: 'messages', price: { input: 3_000n, output: 15_000n } },
  { name: 'third', format: 'chat', price: { input: 400n, output: 900n } },
];

/** The price of a model at the fake upstream. */
export function priceOf(model: string): FailingTarget['price'] {
  const found = TARGETS.find(({ name }) => model.startsWith(`${name}-`));
  if (found === undefined) throw new Error(`the proof has no model ${model}`);
  return found.price;
}

/** The gateway's configuration. Every model also has the price of its targets. */
export function attemptsConfig(fakeUrl: string): object {
  const timeouts = { first_byte: '1s', first_byte_plain: '1s', idle: '1s' };
  const shared = { base_url: `${fakeUrl}/v1`, api_key: 'none', timeouts };
  const perMillion = ({ input, output }: FailingTarget['price']) => ({
    input: Number(input) / 1_000,
    output: Number(output) / 1_000,
  });
  const targetsOf = (form: Form) =>
    TARGETS.map(({ name, price }) => ({ provider: name, model: `${name}-${form}`, price: perMillion(price) }));
  return {
    providers: Object.fromEntries(
      TARGETS.map(({ name, format }) => [
        name,
        { kind: format === 'chat' ? 'openai-compatible' : 'anthropic', ...shared },
      ]),
    ),
    models: Object.fromEntries(FORMS.map((form) => [form, { targets: targetsOf(form) }])),
  };
}

/** Usage that no built-in answer of the fake upstream has, so that a mistaken estimate is seen. */
const REPORTED = {
  chat: { prompt_tokens: 77, completion_tokens: 31, total_tokens: 108 },
  messages: { input_tokens: 77 },
};

type Maker = (format: ProtocolName, form: Form) => Scenario;

const chunk = (members: object) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'x', ...members })}\n\n`;
const event = (type: string, members: object = {}) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;
const BEGUN = { id: 'm', type: 'message', role: 'assistant', model: 'x', content: [], stop_reason: null };
const startOf = (usage: object) => event('message_start', { message: { ...BEGUN, stop_sequence: null, usage } });

/** An answer that reports its usage and then fails before any content: the provider bills it for certain. */
function reportedAndFailed(format: ProtocolName, form: Form): Scenario {
  if (form === 'plain') {
    const usage = format === 'chat' ? REPORTED.chat : { ...REPORTED.messages, output_tokens: 31 };
    return { status: 200, json: { error: { type: 'server_error', message: 'no' }, type: 'error', usage } };
  }
  if (format === 'chat') {
    const begun = chunk({ choices: [{ index: 0, delta: { role: 'assistant' }, finish_reason: null }] });
    return { records: [begun, chunk({ choices: [], usage: REPORTED.chat })] };
  }
  const end = { delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 31 } };
  return { records: [startOf({ ...REPORTED.messages, output_tokens: 1 }), event('message_delta', end)] };
}

/** A stream that begins without content and breaks; only one of messages has reported its input. */
function begunAndBroken(format: ProtocolName, form: Form): Scenario {
  if (form === 'plain') return { cut: { at: 30, how: 'rst' } };
  const begun = chunk({ choices: [{ index: 0, delta: { role: 'assistant' }, finish_reason: null }] });
  const records = format === 'chat' ? [begun] : [startOf({ ...REPORTED.messages, output_tokens: 1 })];
  return { records };
}

/** Each with its share of all attempts, in percent. */
const ANSWERS: readonly (readonly [share: number, make: Maker])[] = [
  [34, () => ({ answer: 'ok' })],
  [8, () => ({ status: 500, errorBodyBytes: 90 })],
  [6, () => ({ status: 503, errorBodyBytes: 90 })],
  [4, () => ({ status: 529, errorBodyBytes: 90 })],
  [8, () => ({ cut: { at: 'before-headers', how: 'rst' } })],
  [4, () => ({ cut: { at: 'in-headers', how: 'fin' } })],
  [7, () => ({ hollow: true })],
  [1, () => ({ delayBeforeFirstByteMs: 1_500 })],
  [5, (_, form) => (form === 'stream' ? { errorEvent: 1 } : { body: 'good day' })],
  [12, reportedAndFailed],
  [8, begunAndBroken],
  [3, (_, form) => (form === 'stream' ? { answer: 'long:20', cut: { at: 1_500, how: 'rst' } } : { answer: 'ok' })],
];

function drawAnswer(chances: Chances, format: ProtocolName, form: Form): Scenario {
  let drawn = chances.whole(1, 100);
  for (const [share, make] of ANSWERS) {
    drawn -= share;
    if (drawn <= 0) return make(format, form);
  }
  throw new Error('the shares of all answers are not 100');
}

/** Scripts `count` answers of each model, drawn one after another; then all answers are good. */
export function scriptTargets(fake: FakeUpstream, chances: Chances, count: number): void {
  for (const { name, format } of TARGETS) {
    for (const form of FORMS) {
      const answers = Array.from({ length: count }, () => drawAnswer(chances, format, form));
      fake.script(`${name}-${form}`, [...answers, { answer: 'ok' }]);
    }
  }
}
