/**
 * Lists the cells of the exit matrix (each ending in each form, on each endpoint and path) and configures their models.
 */
import type { Scenario } from '../fake-upstream/scenario.ts';
import { PROTOCOLS, type ProtocolName } from './calls.ts';
import type { Form } from './exit-scenarios.ts';
import { ENDINGS, type Ending, type Path } from './exit-table.ts';

export interface Cell {
  readonly name: string;
  /** Also the id of the model, the account and the workspace. */
  readonly id: string;
  readonly ending: Ending;
  readonly form: Form;
  readonly protocol: ProtocolName;
  readonly path: Path;
  /** Upstream's format. */
  readonly upstream: ProtocolName;
}

/** All cells, in the order of the table. */
export function listCells(endings: readonly Ending[] = ENDINGS): readonly Cell[] {
  return endings.flatMap((ending, row) =>
    ending.forms.flatMap((form) =>
      ending.paths.flatMap((path) =>
        PROTOCOLS.map((protocol) => ({
          name: `${ending.outcome} (${form}, ${protocol}, ${path})`,
          id: `c${row}-${form}-${protocol}-${path}`,
          ending,
          form,
          protocol,
          path,
          upstream: path === 'same' ? protocol : OTHER[protocol],
        })),
      ),
    ),
  );
}

const OTHER = { chat: 'messages', messages: 'chat' } as const;

export function scenarioOf({ ending, upstream, form }: Cell): Scenario | readonly Scenario[] {
  return typeof ending.upstream === 'function' ? ending.upstream(upstream, form) : ending.upstream;
}

/** Nano-USD per token. */
export const PRICE_NANO = { input: 1_000n, output: 5_000n };
const PRICE = { input: 1, cache_read: 0.1, cache_write: 1.25, cache_write_1h: 2, output: 5, reasoning: 5 };
const HASTY = { first_byte: '300ms', first_byte_plain: '300ms', idle: '300ms' };

/**
 * A model for each cell with a provider of its own, so that no failure affects another cell, and two that answer well:
 * `again-chat`, `again-messages`. `goneUrl` has no listener.
 */
export function matrixConfig(cells: readonly Cell[], fakeUrl: string, goneUrl: string, limits: object): object {
  const models = cells.map(({ id }) => [id, { targets: [{ provider: id }], price: PRICE }]);
  const again = PROTOCOLS.map((protocol) => [
    `again-${protocol}`,
    { targets: [{ provider: `lab-${protocol}`, model: 'ok' }], price: PRICE },
  ]);
  const provider = (protocol: ProtocolName, url: string, more: object = {}) => ({
    kind: protocol === 'chat' ? 'openai-compatible' : 'anthropic',
    base_url: `${url}/v1`,
    api_key: 'none',
    ...more,
  });
  const kinds = {
    lab: (protocol: ProtocolName) => provider(protocol, fakeUrl),
    hasty: (protocol: ProtocolName) => provider(protocol, fakeUrl, { timeouts: HASTY }),
    gone: (protocol: ProtocolName) => provider(protocol, goneUrl),
  };
  const providers = [
    ...cells.map(({ id, ending, upstream }) => [id, kinds[ending.provider](upstream)]),
    ...PROTOCOLS.map((protocol) => [`lab-${protocol}`, kinds.lab(protocol)]),
  ];
  return { limits, providers: Object.fromEntries(providers), models: Object.fromEntries([...models, ...again]) };
}
