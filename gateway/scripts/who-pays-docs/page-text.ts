/** Contains the fixed text of docs/who-pays.md, which is not generated from the table. */
import type { CallEnding } from '../../src/billing/who-pays.ts';
import type { UsageSource } from '../../src/generation/usage.ts';

export const INTRODUCTION = `Whoever broke it pays. A call has one end, and this table says for each what of its usage is charged to the account of
its key. The record of the call has the same: \`usage\`, and \`usage_source\`, which says where the numbers come from.`;

/** How a call ended, as described to the client's user. */
export const ENDINGS: { readonly [ending in CallEnding]: string } = {
  complete: 'The answer is complete, and the provider said what it used.',
  complete_without_usage:
    'The answer is complete, and the provider said nothing of its usage at its end, or nothing that can be right.',
  not_dispatched: 'Nothing was sent to a provider: the call was refused, or the caller left before.',
  caller_left: 'The caller left, or took nothing for too long, after the call was sent.',
  failed_without_output: 'The provider refused the call, failed, or ran out of time before any output.',
  failed_mid_stream: 'The provider failed in the middle of its answer.',
  failed_mid_stream_free: 'The same, where the operator says `defaults: { broken_answers: free }`.',
  undelivered: 'The provider answered and said what it used, and Tollgate could not deliver the answer.',
  extension_refused: 'The balance or a budget did not cover more of the answer, and it was stopped.',
  crashed: 'Tollgate died during the call, after it had noted how far the answer had come.',
  crashed_without_checkpoint: 'Tollgate died during the call, before it had noted anything.',
  replayed: 'The stored answer of an earlier call was given out, by its `Idempotency-Key`.',
};

export const CHARGES = {
  usage: 'its usage',
  so_far: 'the input, and the output that came from the provider until it was stopped',
  checkpoint: 'what had been noted last',
  count: 'the input, by the provider where it told it, and the output as Tollgate counts it',
  told: 'what the provider said that it used',
  nothing: 'nothing',
} as const;

export const SOURCES: { readonly [source in UsageSource]: string } = {
  upstream: "the provider's final numbers",
  partial:
    "the provider's numbers as far as they came, and Tollgate's own count of the output that came after them, or of all where it gave none",
  counted:
    "Tollgate's own count: the bytes of the prompt ÷ 4 (where a stream told of its prompt before its end, the provider's number), those of the output by what its model's tokens were found to measure",
  checkpoint: 'the numbers that were noted last while the answer ran',
  void: 'no numbers: nothing is charged',
  cache: 'no numbers: an earlier call has them',
};

export const NOTES = `## In words

- **Reading everything and leaving before the end is not free.** What the provider produced until it heard of it is charged.
- **A failure of the provider before any output costs the caller nothing**; what the provider may charge for it is the
  operator's.
- **What is charged is never above what was held.** Where an answer cost more than its account's balance or a budget could
  still bear, the difference is the operator's: the ledger has it as \`absorb\`. A record's \`cost_nano_usd\` is the whole
  cost, usage × price: what was posted to the account and what the operator bore, together.
- **A broken answer can be free.** With \`broken_answers: free\` in the configuration the operator bears the whole cost of an
  answer that broke off through no fault of the caller: its record has usage and cost, and the ledger has the cost as
  \`absorb\`. A caller who leaves pays as before.
- **A stream notes how far it has come** every 5 seconds or 2,000 tokens of output, so a crash loses at most that much of a bill.
- **An answer in one piece that outgrows its money** is delivered as far as it came, with the finish reason of a limit of
  tokens and the header \`x-tollgate-cut: insufficient_quota\`: what is charged is what the caller got.
- **A model without a price** is never charged as if it were free: \`cost_nano_usd\` is null. Where a balance or a budget
  would have to pay, the call is refused instead; with \`unpriced: allow\` in the configuration it is served and takes nothing
  from either. The log names each such model.
`;
