/** Keeps a reconciliation with findings of every cause, as the command line does. */
import type { Cause } from '../../src/store/ports/books/reconciliation.ts';
import type { RunningGateway } from '../harness/start-gateway.ts';
import { control } from '../http-contract/make-key.ts';

const FINDINGS: readonly (readonly [day: string, model: string, cause: Cause, amount: string, detail: string])[] = [
  [
    '2026-11-20',
    'gpt-5-mini',
    'missing_call',
    '77805000',
    'billed by the provider, and no record of this gateway matches it: is the credential used elsewhere?',
  ],
  ['2026-11-20', 'gpt-5-mini', 'double', '8300000', 'billed twice: this attempt was made once'],
  ['2026-11-20', 'gpt-5', 'wrong_tier', '8369000', 'billed as priority, recorded as standard'],
  [
    '2026-11-20',
    'gpt-4.1',
    'retried_attempt',
    '5687000',
    'attempt 1 did not answer its request and was billed: the operator’s cost',
  ],
  [
    '2026-11-21',
    'gpt-4.1',
    'cut_stream',
    '1600000',
    'the end of the request was not reported, so its usage here is an estimate',
  ],
  [
    '2026-11-20',
    'o4-mini',
    'other_day',
    '-8576000',
    'counted to 2026-11-21 by the provider and to 2026-11-20 here: another time zone',
  ],
  [
    '2026-11-21',
    'o4-mini',
    'other_day',
    '8576000',
    'counted to 2026-11-21 by the provider and to 2026-11-20 here: another time zone',
  ],
  ['2026-11-21', 'gpt-4o', 'not_billed', '-2100000', 'recorded here, and not in the export'],
];

export const RECONCILIATION_ID = `rec_${'0a'.repeat(12)}`;

/** `request`: a request of the gateway, which the findings name. */
export async function seedReconciliation(gateway: RunningGateway, request: string): Promise<void> {
  const places = Map.groupBy(FINDINGS, ([day, model]) => `${day} ${model}`);
  const explained = FINDINGS.reduce((sum, [, , , amount]) => sum + BigInt(amount), 0n);
  await control(gateway, 'reconciliations.save', {
    id: RECONCILIATION_ID,
    providers: 'lab, openrouter',
    format: 'openrouter-generations',
    file: 'openrouter_activity_2026-11.csv',
    first_day: '2026-11-20',
    last_day: '2026-11-21',
    time_zone: 'UTC',
    lines: 1_204,
    billed: (4_100_000_000n + explained).toString(),
    recorded: '4100000000',
    explained: explained.toString(),
    days: [...places.values()].flatMap((group) => {
      const [first] = group;
      if (first === undefined) return [];
      const [day, model] = first;
      const differs = group.reduce((sum, [, , , amount]) => sum + BigInt(amount), 0n);
      return [
        {
          day,
          model,
          billed_requests: 151,
          recorded_requests: 150,
          billed: (683_000_000n + differs).toString(),
          recorded: '683000000',
          explained: differs.toString(),
        },
      ];
    }),
    findings: FINDINGS.map(([day, model, cause, amount, detail]) => ({
      day,
      model,
      cause,
      amount,
      count: cause === 'not_billed' ? 3 : 1,
      request_id: cause === 'missing_call' ? null : request,
      attempt: cause === 'missing_call' ? null : 1,
      provider_request_id: `gen-17${amount.replace('-', '')}`,
      detail,
    })),
  });
}
