/** Runs a control command on behalf of a console API caller, and turns its errors into console API errors. */
import type { CommandOrigin } from '../../control/command.ts';
import { type Control, isUndone } from '../../control/control.ts';
import { ConstraintViolation, InsufficientFunds, StoreError } from '../../store/ports/store-errors.ts';
import { type Actor, isOperator } from './actor.ts';
import { ConsoleFailure } from './console-failure.ts';

/** The caller and their address. */
interface Asking {
  readonly actor: Actor;
  readonly address: string | null;
}

type Result = { readonly [member: string]: unknown };

/** Command arguments that are nested in `caps` in a body. */
const CAPS = new Set(['rpm', 'tpm', 'concurrency', 'budget_usd', 'budget_window']);

/**
 * The created or changed resource, as `control/views.ts` renders it. Throws ConsoleFailure where the command is
 * refused.
 */
export async function runCommand(control: Control, asking: Asking, name: string, given: object): Promise<Result> {
  const reply = await control.run(name, given, changedBy(asking)).catch(nameStoreFault);
  // Every command except a list returns an object.
  if (reply.ok) return reply.result as Result;
  if (reply.kind === 'failed') throw new ConsoleFailure('conflict', reply.message);
  if (reply.kind === 'forbidden') throw new ConsoleFailure('forbidden', reply.message);
  const [, argument = ''] = /^([a-z_]+)(?:\.\d+)*: /.exec(reply.message) ?? [];
  const member = CAPS.has(argument) ? `caps.${argument}` : argument;
  throw new ConsoleFailure('invalid', reply.message, member === '' ? {} : { member });
}

/**
 * The caller for the audit trail, and their authority: only an operator of the installation changes the operator's
 * limits.
 */
function changedBy({ actor, address }: Asking): CommandOrigin {
  if (actor.kind === 'anonymous') throw new Error('a command needs an actor');
  const authority = isOperator(actor) ? 'operator' : 'account';
  return { actor: { kind: actor.kind, id: actor.id, name: actor.name }, address, authority };
}

function nameStoreFault(fault: unknown): never {
  if (!(fault instanceof StoreError)) throw fault;
  if (fault instanceof ConstraintViolation || fault instanceof InsufficientFunds)
    throw new ConsoleFailure('conflict', fault.message, { cause: fault });
  const known = isUndone(fault)
    ? 'the store is not writable; nothing was changed. Try again soon'
    : 'the store is not writable, and it is unknown whether the change was saved: check before you retry';
  throw new ConsoleFailure('store_unavailable', known, { retryAfterSeconds: 2, cause: fault });
}
