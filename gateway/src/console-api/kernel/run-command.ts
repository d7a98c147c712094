/** Owns how a route has a command run: in the name of who asks, and with its refusal in the words of the console's API. */
import type { CommandOrigin } from '../../control/command.ts';
import { type Control, isUndone } from '../../control/control.ts';
import { type Actor, runsHouse } from './actor.ts';
import { ConsoleFailure } from './console-failure.ts';

/** Who asks, and from where. */
interface Asking {
  readonly actor: Actor;
  readonly address: string | null;
}

type Result = { readonly [member: string]: unknown };

/** Members of commands' arguments that stand deeper in a body. */
const CAPS = new Set(['rpm', 'tpm', 'concurrency', 'budget_usd', 'budget_window']);

/** What the command made or changed, as `control/views.ts` shows it. Throws ConsoleFailure where it is refused. */
export async function runCommand(control: Control, asking: Asking, name: string, given: object): Promise<Result> {
  const reply = await control.run(name, given, changedBy(asking)).catch(nameStoreFault);
  // Every command but a list answers with an object.
  if (reply.ok) return reply.result as Result;
  if (reply.kind === 'failed') throw new ConsoleFailure('conflict', reply.message);
  if (reply.kind === 'forbidden') throw new ConsoleFailure('forbidden', reply.message);
  const [, argument = ''] = /^([a-z_]+)(?:\.\d+)*: /.exec(reply.message) ?? [];
  const member = CAPS.has(argument) ? `caps.${argument}` : argument;
  throw new ConsoleFailure('invalid', reply.message, member === '' ? {} : { member });
}

/** Who asks, for the audit trail, and with whose authority: nobody but who runs the installation changes the operator's limits. */
function changedBy({ actor, address }: Asking): CommandOrigin {
  if (actor.kind === 'nobody') throw new Error('a command is asked for by somebody');
  const authority = runsHouse(actor) ? 'operator' : 'account';
  return { actor: { kind: actor.kind, id: actor.id, name: actor.name }, address, authority };
}

/** The store's failures are told apart by their kind; its classes are below this layer. */
function nameStoreFault(fault: unknown): never {
  const kind = fault instanceof Error && 'kind' in fault ? fault.kind : null;
  if (!(fault instanceof Error) || fault.name !== 'StoreFailure') throw fault;
  if (kind === 'refused' || kind === 'conflict') throw new ConsoleFailure('conflict', fault.message, { cause: fault });
  const known = isUndone(fault)
    ? 'nothing can be written at the moment, and nothing was changed; try again soon'
    : 'nothing can be written at the moment, and it is not known whether the change was kept: look before you ask again';
  throw new ConsoleFailure('store_away', known, { retryAfterSeconds: 2, cause: fault });
}
