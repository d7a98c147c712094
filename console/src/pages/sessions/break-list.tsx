/** Renders where the prompt cache of a session broke: the request, the cause, and what it cost. */
import { useState } from 'react';
import { counted, wholeNumber } from '../../lib/format.ts';
import { exactUsd, shortUsd, sumNano } from '../../lib/money.ts';
import { useReply } from '../../lib/queries.ts';
import { useAccount } from '../../lib/session.ts';
import { Link } from '../../route/link.tsx';
import { Money } from '../../ui/amounts.tsx';
import { Button } from '../../ui/button.tsx';
import { Panel, Section } from '../../ui/page.tsx';
import { type CacheBreak, causeText, comparisonText, type ShownTurn, usesCache } from './turns.ts';

interface BreakListProps {
  readonly turns: readonly ShownTurn[];
  readonly onOpen: (request: string) => void;
}

/** Breaks shown at once; their prompts are compared at once, too. */
const FIRST = 8;

export function BreakList({ turns, onOpen }: BreakListProps) {
  const [showsAll, showAll] = useState(false);
  const broken = turns.flatMap((turn) => (turn.cache_break === null ? [] : [{ turn, found: turn.cache_break }]));
  const byId = new Map(turns.map((turn) => [turn.request_id, turn]));
  if (broken.length === 0) {
    return (
      <Section title="Prompt cache">
        <p className="text-ink-2">
          {usesCache(turns)
            ? 'No break: each request read from the cache what the one before had left there.'
            : 'No request read from a prompt cache or wrote to one: their provider reports none, the prompts are short, or they have no cache marks.'}
        </p>
      </Section>
    );
  }
  const cost = sumNano(broken.flatMap(({ found }) => found.cost_nano_usd ?? []));
  return (
    <Section
      title="Prompt cache"
      aside={
        <span className="text-ink-2">
          {counted(broken.length, 'break')}, at most <span title={exactUsd(cost)}>{shortUsd(cost)}</span>
        </span>
      }
    >
      <Panel>
        <ul aria-label="Breaks of the prompt cache">
          {(showsAll ? broken : broken.slice(0, FIRST)).map(({ turn, found }) => (
            <li
              key={turn.request_id}
              className="grid grid-cols-[1fr_auto] gap-x-4 gap-y-0.5 border-b border-line px-3 py-2 last:border-0"
            >
              <span className="min-w-0">
                <button
                  type="button"
                  onClick={() => onOpen(turn.request_id)}
                  className="font-medium text-accent underline underline-offset-2"
                >
                  Request {wholeNumber(turn.number)}
                </button>{' '}
                <span className="text-ink-2">
                  read {wholeNumber(turn.cache_read)} of {wholeNumber(found.expected)} cached tokens.
                </span>
              </span>
              <Money nanoUsd={found.cost_nano_usd} />
              <span className="col-span-full max-w-[88ch]">
                {causeText(found, turn, byId.get(found.previous))}{' '}
                {found.cause === 'prompt' && <Compared request={turn.request_id} found={found} />}
              </span>
            </li>
          ))}
        </ul>
      </Panel>
      {broken.length > FIRST && !showsAll && (
        <Button kind="quiet" onClick={() => showAll(true)}>
          Show all {wholeNumber(broken.length)} breaks
        </Button>
      )}
    </Section>
  );
}

function Compared({ request, found: { previous } }: { readonly request: string; readonly found: CacheBreak }) {
  const { account, may } = useAccount();
  const { data, error, refetch } = useReply('GET /accounts/{account}/cache-break', {
    path: { account },
    query: { request, previous },
  });
  if (error !== null) {
    return (
      <>
        The prompts were not compared: {error.message}{' '}
        <Button kind="quiet" onClick={() => void refetch()}>
          Try again
        </Button>
      </>
    );
  }
  if (data === undefined) return <span className="text-ink-3">Comparing prompts…</span>;
  return (
    <strong className="font-medium">
      {comparisonText(data)}
      {data.outcome === 'not_stored' && may('workspaces.write') && (
        <>
          {' '}
          <Link to="/app/workspaces" className="text-accent underline underline-offset-2">
            Workspaces
          </Link>
        </>
      )}
    </strong>
  );
}
