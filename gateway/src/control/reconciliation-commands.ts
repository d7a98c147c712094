/** Defines the command that keeps a reconciliation with a provider. The comparison itself is in `reconcile/`. */
import { z } from 'zod';
import { formatNanoUsd } from '../billing/money.ts';
import { CAUSES } from '../store/ports/books/reconciliation.ts';
import { timeZone } from './arguments.ts';
import { CommandFailure, type ControlCommand, defineCommand } from './command.ts';
import { auditChange, OPERATOR_ACCOUNT } from './policy-changes.ts';

const ROWS_MAX = 20_000;
const text = (lengthMax: number) => z.string().min(1).max(lengthMax);
const day = z.string().regex(/^\d{4}-\d{2}-\d{2}$/);
const count = z.int().min(0);
/** Integer nano-USD as a text; within 64 bits. */
const amount = z
  .string()
  .regex(/^-?\d{1,18}$/)
  .transform(BigInt);

const save = defineCommand(
  z.strictObject({
    id: z.string().regex(/^rec_[0-9a-f]{24}$/),
    providers: text(1_000),
    format: text(64),
    file: text(256),
    first_day: day,
    last_day: day,
    time_zone: timeZone,
    lines: count,
    billed: amount,
    recorded: amount,
    explained: amount,
    days: z
      .array(
        z.strictObject({
          day,
          model: text(256),
          billed_requests: count.nullable(),
          recorded_requests: count,
          billed: amount.nullable(),
          recorded: amount,
          explained: amount,
        }),
      )
      .max(ROWS_MAX),
    findings: z
      .array(
        z.strictObject({
          day,
          model: text(256),
          cause: z.enum(CAUSES),
          amount,
          count,
          request_id: text(64).nullable(),
          attempt: z.int().min(1).nullable(),
          provider_request_id: text(256).nullable(),
          detail: text(512),
        }),
      )
      .max(ROWS_MAX),
  }),
  async (run, given) => {
    if (run.by.authority !== 'operator') {
      throw new CommandFailure('Only the operator of this gateway can reconcile its providers; ask them.', 'forbidden');
    }
    const { id, providers, format, file, lines, billed, recorded, explained } = given;
    const summary = {
      ...{ id, providers, format, file, lines, billed, recorded, explained },
      importedAtMs: run.nowMs(),
      firstDay: given.first_day,
      lastDay: given.last_day,
      timeZone: given.time_zone,
      findings: given.findings.reduce((sum, finding) => sum + finding.count, 0),
    };
    const shown = {
      providers,
      format,
      file,
      billed_nano_usd: billed.toString(),
      recorded_nano_usd: recorded.toString(),
    };
    const [entry] = auditChange(run, {
      account: OPERATOR_ACCOUNT,
      workspace: null,
      subject: { kind: 'reconciliation', id },
      before: null,
      after: shown,
    });
    if (entry === undefined) throw new Error('a reconciliation without an audit entry');
    await run.reconciliations.save(
      {
        ...summary,
        days: given.days.map(({ billed_requests, recorded_requests, ...rest }) => ({
          ...rest,
          billedRequests: billed_requests,
          recordedRequests: recorded_requests,
        })),
        list: given.findings.map(({ request_id, provider_request_id, ...rest }) => ({
          ...rest,
          requestId: request_id,
          providerRequestId: provider_request_id,
        })),
      },
      entry,
    );
    return { id, difference_usd: formatNanoUsd(billed - recorded) };
  },
);

export const RECONCILIATION_COMMANDS: readonly (readonly [name: string, command: ControlCommand])[] = [
  ['reconciliations.save', save],
];
