/** Contains the fixed text of docs/who-pays.md, which is not generated from the table. */
import type { CallEnding } from '../../src/billing/who-pays.ts';
import type { UsageSource } from '../../src/generation/usage.ts';

export const INTRODUCTION = `A failure is paid by the side that caused it. Every request has one end; this table says for each end what is charged to the
account of its API key. The request's record has the same numbers: \`usage\`, and \`usage_source\`, their origin.`;

/** How a call ended, as described to the client's user. */
export const ENDINGS: { readonly [ending in CallEnding]: string } = {
  complete: 'The answer is complete, and the provider reported its usage.',
  complete_without_usage: 'The answer is complete, and the provider reported no plausible final usage.',
  not_dispatched: 'Nothing was sent to a provider: the request was refused, or the client disconnected before.',
  caller_left: 'The client disconnected, or did not read for too long, after the request was sent.',
  failed_without_output: 'The provider refused the request, failed or timed out before any output.',
  failed_mid_stream: 'The provider failed in the middle of its answer.',
  failed_mid_stream_free: 'The same, with `defaults: { broken_answers: free }`.',
  undelivered: 'The provider answered and reported its final usage, but Tollgate could not deliver the answer.',
  extension_refused: 'The balance or a budget did not cover more of the answer, and it was stopped.',
  crashed: 'Tollgate crashed during the request, after a checkpoint.',
  crashed_without_checkpoint: 'Tollgate crashed during the request, before its first checkpoint.',
  lost_attempt:
    'An attempt failed before any output that the client saw, and another one answered the request, or none did.',
  replayed: 'The stored answer of an earlier request was returned for its `Idempotency-Key`.',
};

export const CHARGES = {
  usage: 'its usage',
  so_far: 'the input, and the output that the provider sent until it was stopped',
  checkpoint: 'the usage of the last checkpoint',
  count: "the input, by the provider's number if it reported one, and the output by Tollgate's count",
  nothing: 'nothing',
} as const;

export const SOURCES: { readonly [source in UsageSource]: string } = {
  upstream: "the provider's final numbers",
  partial:
    "the provider's numbers as far as they came, and Tollgate's count of later output, or of everything if there were none",
  counted:
    "Tollgate's count: prompt bytes ÷ 4 (or the provider's number, if a stream reported it before its end), and output bytes by the measured ratio of the model",
  checkpoint: 'the last checkpoint of the running answer',
  void: 'no numbers: nothing is charged',
  cache: 'no numbers: an earlier request has them',
};

export const NOTES = `## Details

- **Disconnecting before the end is not free.** Everything that the provider produced until it was aborted is charged.
- **A provider failure before any output costs the caller nothing.** If the provider charges for it, the operator pays.
- **A request that takes several attempts is charged once**, for the attempt that answered, at the price of its target. If the
  client disconnects during the second attempt, it pays the input of that attempt only. If all attempts fail, it pays nothing.
- **Attempts that did not answer are the operator's cost.** Each has \`billed\` in the record of the request: \`yes\` if the provider
  reported its usage, \`maybe\` if the request was sent and its fate is unknown; then \`usage\` is an estimate. Absent: the provider
  refused the request, or never got it. The amounts are at the provider's price without the account's markup. They are in no
  request's \`cost_nano_usd\`; an account's \`absorbed_attempts_nano_usd\` is their sum, and
  \`GET /app/api/attempt-costs\` adds them up by provider and model, for the comparison with invoices.
- **The charge never exceeds the hold.** If an answer cost more than the balance or a budget could cover, the operator pays the
  difference; the ledger has it as \`absorb\`. A record's \`cost_nano_usd\` is the whole cost, usage × price: the charge to the
  account plus what was written off.
- **Broken answers can be free.** With \`broken_answers: free\` in the configuration, the operator pays the whole cost of an answer
  that broke off through no fault of the caller. Its record has usage and cost, and the ledger has the cost as \`absorb\`. A
  client that disconnects pays as before.
- **An answer that a guardrail stops** is charged as far as the provider sent it: the account's own rule keeps it from the client.
  So is one whose hook did not answer. A request that a guardrail stops costs nothing.
- **A response in the background** is charged at its end, as the provider reports it, whether or not anyone fetches it, and over
  restarts. If the provider does not end it within 48 hours, or it is deleted before its end, the amount that was held is charged,
  and its record has the flag \`held_amount\`.
- **A batch** is charged the sum of its answers when it has ended, whatever ended it; errors and requests without an answer cost
  nothing. The same 48 hours apply.
- **A stream has a checkpoint** every 5 seconds or 2,000 output tokens. A crash loses at most that much of a charge.
- **A plain request that is killed within its first milliseconds** may leave no record, and after a power failure one that was
  running for less than a fifth of a second. It costs nothing, and its client has no answer.
- **A plain answer that outgrows its money** is delivered as far as it came, with the finish reason of a token limit and the
  header \`x-tollgate-cut: insufficient_quota\`. Only what the client got is charged.
- **A model without a price** is never treated as free: \`cost_nano_usd\` is null. If a balance or a budget would have to pay, the
  request is refused; with \`unpriced: allow\` in the configuration it is served and not charged. The log names each such model.
`;
