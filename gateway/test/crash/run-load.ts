/** Runs the load of a crash loop round: two hundred callers and top-ups, until the gateway dies. */

import type { RunningGateway } from '../harness/start-gateway.ts';
import { type CrashFolder, newTopup, topUp } from './crash-folder.ts';
import { ROLES, type Role } from './roles.ts';
import { sendCall } from './send-call.ts';

export interface Load {
  /** Resolves once every caller has noticed the gateway's end. */
  readonly ended: Promise<unknown>;
  /** Calls that were cut off; 0 before the kill. */
  cuts(): number;
  /** Calls with a whole answer. */
  answers(): number;
}

const POOR_TOPUP = 2_000_000n;
const TOPUP_EVERY_MS = 25;
/** Maximum number of whole answers of named runs that are requested again after the next start. */
const ASKED_AGAIN_MAX = 12;

/** Starts all callers; each sends its next call after the answer to the previous one, and stops at the first cut. */
export function startLoad(folder: CrashFolder, gateway: RunningGateway): Load {
  let cuts = 0;
  let answers = 0;
  let replays = 0;
  const again = folder.again.splice(0);

  async function call(role: Role, label: string, isFirst: boolean): Promise<boolean> {
    const received = await sendCall(gateway.url, folder.keys[role.payer], role, label).catch(() => null);
    folder.truth.sent.push({ label, role, received });
    const isCut = received === null || received.end === 'cut';
    if (isCut) cuts += 1;
    if (received?.end === 'complete') answers += 1;
    const isWhole = received?.end === 'complete' && replays < ASKED_AGAIN_MAX;
    if (isWhole) replays += 1;
    if (isFirst && role.isNamed && (isCut || isWhole)) folder.again.push({ label, role });
    return !isCut;
  }

  async function keepCalling(role: Role): Promise<void> {
    while (await call(role, folder.newLabel(), true));
  }

  async function keepToppingUp(): Promise<void> {
    for (;;) {
      try {
        await topUp(gateway, newTopup(folder.truth, 'poor', POOR_TOPUP));
      } catch {
        return;
      }
      await Bun.sleep(TOPUP_EVERY_MS);
    }
  }

  const callers = [...again.map(({ role, label }) => call(role, label, false)), ...ROLES.map(keepCalling)];
  return { ended: Promise.all([...callers, keepToppingUp()]), cuts: () => cuts, answers: () => answers };
}
