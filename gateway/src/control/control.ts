/** Runs administrative commands by name, those that change something one after another. Trusts the requester it is given. */

import { createTurns, type InTurn } from '../lib/turns.ts';
import { StoreError, type StoreErrorKind } from '../store/ports/store-errors.ts';
import { ACCOUNT_COMMANDS, MONEY_COMMANDS } from './account-commands.ts';
import { ALERT_COMMANDS } from './alert-commands.ts';
import type { CommandOrigin, ControlAnswer, ControlCommand, ControlContext, ControlReply } from './command.ts';
import { GUARDRAIL_COMMANDS, GUARDRAIL_TRIALS } from './guardrails/guardrail-commands.ts';
import { IMPORT_COMMANDS } from './import-commands.ts';
import { KEY_COMMANDS } from './keys/key-commands.ts';
import { LIMIT_COMMANDS } from './limit-commands.ts';
import { VIEW_COMMANDS } from './logs/view-commands.ts';
import { RECONCILIATION_COMMANDS } from './reconciliation-commands.ts';
import { CREDENTIAL_COMMANDS } from './routing/credential-commands.ts';
import { PROVIDER_COMMANDS } from './routing/provider-commands.ts';
import { ROUTE_COMMANDS } from './routing/route-commands.ts';
import { STATEMENT_COMMANDS } from './statements/statement-command.ts';
import { ADDRESS_COMMANDS, LINK_COMMANDS, USER_COMMANDS } from './user-commands.ts';
import { WORKSPACE_COMMANDS } from './workspace-commands.ts';

const COMMANDS: ReadonlyMap<string, ControlCommand> = new Map([
  ...KEY_COMMANDS,
  ...WORKSPACE_COMMANDS,
  ...ACCOUNT_COMMANDS,
  ...MONEY_COMMANDS,
  ...LIMIT_COMMANDS,
  ...LINK_COMMANDS,
  ...USER_COMMANDS,
  ...ROUTE_COMMANDS,
  ...CREDENTIAL_COMMANDS,
  ...IMPORT_COMMANDS,
  ...RECONCILIATION_COMMANDS,
  ...ALERT_COMMANDS,
  ...VIEW_COMMANDS,
  ...GUARDRAIL_COMMANDS,
]);

/** Commands that take no turn, because they may take long: they wait for other servers, or only read. */
const UNORDERED: ReadonlyMap<string, ControlCommand> = new Map([
  ...ADDRESS_COMMANDS,
  ...PROVIDER_COMMANDS,
  ...STATEMENT_COMMANDS,
  ...GUARDRAIL_TRIALS,
]);

export interface Control {
  /**
   * Runs a command. Commands that change something run one at a time: each reads, decides and writes, and two at once
   * would undo each other's changes. Rejects if the store fails; `isUndone` then tells whether nothing has changed. The audit trail records its
   * changes as `by`'s. `check` runs first in the command's turn, so that no change comes between; rejects with what it
   * throws.
   */
  run(name: string, rawArguments: unknown, by: CommandOrigin, check?: () => void): Promise<ControlReply>;
}

/** Creates the commands over a store and a directory. `inTurn`: shared with other changes of the same data. */
export function createControl(context: ControlContext, inTurn: InTurn = createTurns()): Control {
  return {
    async run(name, rawArguments, by, check) {
      const runOf = (command: ControlCommand) => async () => {
        check?.();
        return command({ ...context, act: name, by }, rawArguments);
      };
      const unordered = UNORDERED.get(name);
      if (unordered !== undefined) return runOf(unordered)();
      const command = COMMANDS.get(name);
      return command === undefined ? unknownCommand(name) : inTurn(runOf(command));
    },
  };
}

/** A failed read is not among them: the command may have written before it. */
const UNDONE: ReadonlySet<StoreErrorKind> = new Set(['insufficient_funds', 'conflict', 'invalid', 'full', 'closed']);

/** Whether it is certain that nothing was changed by the command that threw this. */
export function isUndone(fault: unknown): boolean {
  return fault instanceof StoreError && UNDONE.has(fault.kind);
}

/** Runs a command and converts a fault to an answer. Never rejects. */
export async function answerCommand(
  control: Control,
  name: string,
  rawArguments: unknown,
  by: CommandOrigin,
): Promise<ControlAnswer> {
  try {
    return await control.run(name, rawArguments, by);
  } catch (fault) {
    const message = fault instanceof Error ? fault.message : String(fault);
    return { ok: false, kind: isUndone(fault) ? 'failed' : 'unknown', message };
  }
}

function unknownCommand(name: string): ControlReply {
  const known = [...COMMANDS.keys(), ...UNORDERED.keys()].join(', ');
  const found = JSON.stringify(name.slice(0, 60));
  return { ok: false, kind: 'usage', message: `found the command ${found}, expected one of ${known}` };
}
