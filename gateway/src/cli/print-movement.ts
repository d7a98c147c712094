/** Owns how a movement of money is printed: as JSON, and in words. */
import { z } from 'zod';
import type { Json } from '../control/command.ts';
import type { CliEnvironment } from './cli-environment.ts';
import { renderFields, renderJsonLine } from './output.ts';
import { renderUsd } from './render-caps.ts';

/** What a view of a movement holds; see control/views.ts. */
const movementView = z.object({
  id: z.string(),
  account: z.string(),
  moved_nano_usd: z.string(),
  note: z.string().nullable(),
  balance_nano_usd: z.string(),
  held_nano_usd: z.string(),
});

/** Prints a movement and the balance after it. */
export function printMovement(environment: CliEnvironment, result: Json, asJson: boolean): void {
  environment.stdout(asJson ? renderJsonLine(result) : renderMovement(movementView.parse(result)));
}

function renderMovement(movement: z.infer<typeof movementView>): string {
  const fields = renderFields([
    ['movement', movement.id],
    ['moved', `${renderUsd(movement.moved_nano_usd)} USD`],
    ['balance', `${renderUsd(movement.balance_nano_usd)} USD`],
    ['held', `${renderUsd(movement.held_nano_usd)} USD`],
    ['note', movement.note ?? '-'],
  ]);
  const head = movement.moved_nano_usd === '0' ? 'The movement had been made before; nothing moved now.\n' : '';
  return `${head}The account ${movement.account}:\n${fields}`;
}
