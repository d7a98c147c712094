/** Folds a stream of legacy completions into one answer, and writes an answer of one piece as a stream. */
import { CallFailure } from '../../../errors/call-failure.ts';
import { dataText, type StreamRecord } from '../../../framing/framing.ts';
import type { Usage } from '../../../generation/usage.ts';
import { findError } from '../../answer/answer-error.ts';
import { type JsonDraft, mergeDelta, startDraft } from '../../answer/merge-delta.ts';
import { asArray, asObject, type JsonObject, parseObject } from '../../json.ts';
import type { AnswerFold } from '../../upstream-protocol.ts';

export function startFold(): AnswerFold {
  return new CompletionsFold();
}

class CompletionsFold implements AnswerFold {
  readonly #choices = new Map<number, JsonDraft>();
  readonly #head = startDraft();
  #usage: JsonObject | null = null;

  push(record: StreamRecord): void {
    const chunk = parseObject(dataText(record));
    if (chunk === null) return;
    const { choices, usage, ...head } = chunk;
    Object.assign(this.#head, head);
    this.#usage = asObject(usage) ?? this.#usage;
    for (const value of asArray(choices)) {
      const choice = asObject(value);
      if (choice === null) continue;
      const index = typeof choice.index === 'number' ? choice.index : 0;
      const draft = this.#choices.get(index) ?? startDraft();
      this.#choices.set(index, draft);
      mergeDelta(draft, choice);
    }
  }

  finish(cut: Usage | null): string {
    if (this.#choices.size === 0 && cut === null) {
      throw new CallFailure('upstream_malformed', 'the model provider sent an invalid answer: it has no choices');
    }
    const byIndex = [...this.#choices].sort(([one], [other]) => one - other);
    const choices = byIndex.map(([index, { text = '', finish_reason = null, ...others }]) => {
      return { ...others, text, index, finish_reason: finish_reason ?? (cut === null ? null : 'length') };
    });
    const usage = cut === null ? (this.#usage ?? undefined) : renderUsage(cut);
    return JSON.stringify({ ...this.#head, choices, usage });
  }
}

function renderUsage({ input, cache_read, output }: Usage) {
  const prompt_tokens = input + cache_read;
  return { prompt_tokens, completion_tokens: output, total_tokens: prompt_tokens + output };
}

/** The records, including `[DONE]`; null: the body is not an answer. */
export function streamOfAnswer(body: Buffer): Buffer | null {
  const answer = parseObject(body.toString());
  const choices = asArray(answer?.choices);
  if (answer === null || choices.length === 0 || findError(answer) !== null) return null;
  const { choices: _, usage, ...head } = answer;
  const record = (members: object) => `data: ${JSON.stringify({ ...head, ...members })}\n\n`;
  const chunks = choices.map((choice, index) => {
    return record({ choices: [{ index, finish_reason: 'stop', ...asObject(choice) }] });
  });
  const counted = asObject(usage) === null ? '' : record({ choices: [], usage });
  return Buffer.from(`${chunks.join('')}${counted}data: [DONE]\n\n`);
}
