/** Owns how a command moves money: under an id, and with what is said where nobody knows whether it came through. */
import type { Json } from '../control/command.ts';
import { generateId } from '../identity/key-format.ts';
import { administer, OutcomeUnknown } from './administer.ts';
import type { CliEnvironment } from './cli-environment.ts';

export const MOVEMENT_ID_HELP = 'names the movement: the same id twice moves once';

export interface AskedMovement {
  readonly account: string;
  readonly usd: string;
  readonly note?: string | undefined;
  readonly id?: string | undefined;
}

/** Whoever asks again with the same id moves once. @throws CliFailure as `administer` does. */
export async function moveMoney(
  environment: CliEnvironment,
  command: 'accounts.topup' | 'accounts.correct',
  { id = generateId('mov'), ...asked }: AskedMovement,
): Promise<Json> {
  try {
    return await administer(environment, command, { ...asked, id });
  } catch (fault) {
    if (!(fault instanceof OutcomeUnknown)) throw fault;
    throw new OutcomeUnknown(
      1,
      `${fault.message}\nTo try again safely add --id ${id}: should the money have come through, it does not move twice.`,
    );
  }
}
