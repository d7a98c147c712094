/**
 * Runs cells of the exit matrix on one gateway. Each cell has its own account and a key limited to one concurrent call.
 */

import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/start-fake-upstream.ts';
import { eventually } from '../harness/eventually.ts';
import { type RunningGateway, startGateway } from '../harness/start-gateway.ts';
import { control } from '../http-contract/make-key.ts';
import { act, ask, bodyOf, type Seen } from './exit-acts.ts';
import { type Books, openBooks, type RecordLine } from './exit-books.ts';
import { type Cell, matrixConfig, scenarioOf } from './exit-cells.ts';

export interface ExitRig {
  readonly fake: FakeUpstream;
  readonly gateway: RunningGateway;
  readonly books: Books;
  stop(): Promise<void>;
}

export interface Opened {
  readonly cell: Cell;
  readonly key: string;
  readonly keyId: string;
}

/** Starts a fake upstream and a gateway that serves the cells. */
export async function startExitRig(
  cells: readonly Cell[],
  limits: object,
  environment: Readonly<Record<string, string>> = {},
): Promise<ExitRig> {
  const fake = await startFakeUpstream();
  const gone = await startFakeUpstream();
  await gone.stop();
  for (const cell of cells) fake.script(cell.id, scenarioOf(cell));
  const gateway = await startGateway({ config: matrixConfig(cells, fake.url, gone.url, limits), environment });
  const books = openBooks(gateway.dataDir);
  return {
    fake,
    gateway,
    books,
    async stop() {
      books.close();
      await gateway.stop();
      await fake.stop();
    },
  };
}

/** Creates the cell's own account with its balance, and its key. */
export async function openCell({ gateway }: Pick<ExitRig, 'gateway'>, cell: Cell): Promise<Opened> {
  const { id, ending } = cell;
  await control(gateway, 'accounts.create', { id, mode: 'prepaid' });
  await control(gateway, 'workspaces.create', { id, account: id });
  await control(gateway, 'accounts.topup', { account: id, usd: ending.usd });
  const given = { name: id, workspace: id, concurrency: 1, ...ending.key };
  const made = (await control(gateway, 'keys.create', given)) as { readonly id: string; readonly key: string };
  return { cell, key: made.key, keyId: made.id };
}

/** Runs the cell's call and returns what the client saw and the call's record. */
export async function runCell(
  { gateway, fake, books }: ExitRig,
  { cell, key, keyId }: Opened,
): Promise<{ readonly seen: Seen; readonly record: RecordLine }> {
  const saw = await act(cell, { url: gateway.url, key }, fake);
  const { requestId } = saw;
  // The record exists as soon as a client has its whole answer.
  const record =
    requestId === null
      ? await eventually(`the record of ${cell.name}`, async () => (await books.recordsOf(keyId)).at(-1), 20_000)
      : await books.record(requestId);
  if (record === null) throw new Error(`${cell.name}: the client has its answer, and there is no record of it`);
  return { seen: { ...saw, eventsSent: fake.served(cell.id).at(-1)?.eventsSent ?? 0 }, record };
}

/**
 * Returns the status of the key's next call. The end of a call whose client left is not observable, so this retries
 * until it is over.
 */
export async function callNext({ gateway }: ExitRig, { cell, key }: Opened, seen: Seen): Promise<number | null> {
  const next = () => ask({ url: gateway.url, key }, cell, bodyOf({ ...cell, form: 'plain' }, `again-${cell.protocol}`));
  const { status } = await next();
  const isOver = seen.requestId !== null && cell.ending.act !== 'read-beside';
  if (isOver || status === cell.ending.next) return status;
  return eventually(`a call after ${cell.name}`, async () => {
    const again = await next();
    return again.status === cell.ending.next ? again.status : null;
  });
}
