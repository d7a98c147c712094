/** Lists every target of a model for one request: the order of trial, why, its cost there, and why others are left out. */
import type { Reply } from '../../../../gateway/src/console-api/contract/contract.ts';
import { wholeNumber } from '../../lib/format.ts';
import { exactUsd, shortUsd } from '../../lib/money.ts';
import type { Protocol } from '../../lib/protocols.ts';
import { useReply } from '../../lib/queries.ts';
import { useAccount } from '../../lib/session.ts';
import { useClockZone } from '../../lib/zone.ts';
import { untilText } from '../../routing/routing-states.ts';
import { failureText, STRATEGY_TEXTS, verdictText } from '../../routing/routing-words.ts';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Panel, SkeletonPanel } from '../../ui/page.tsx';
import type { PreviewBody } from './preview-request.ts';

type Explanation = Reply<'POST /accounts/{account}/routes/explain'>;
type Target = Explanation['targets'][number];

/** States change within seconds; a long request is sent again with each refresh. */
const REFRESH_MS = 15_000;

interface RouteExplanationProps {
  readonly model: string;
  readonly protocol: Protocol;
  /** '': any key. */
  readonly keyId: string;
  /** Undefined: a short request of text only. */
  readonly request: PreviewBody | undefined;
}

export function RouteExplanation({ model, protocol, keyId, request }: RouteExplanationProps) {
  const { account } = useAccount();
  const body = {
    model,
    protocol,
    ...(keyId === '' ? {} : { key: keyId }),
    ...(request === undefined ? {} : { request }),
  };
  const { data, error, refetch } = useReply(
    'POST /accounts/{account}/routes/explain',
    { path: { account }, body },
    { keepsPrevious: true, everyMs: REFRESH_MS },
  );
  if (error !== null) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <SkeletonPanel heightPx={96} />;
  const tried = data.targets.filter(isTried);
  return (
    <Panel className="divide-y divide-line">
      {data.strategy !== null && (
        <p className="figures px-3 py-2 text-sm text-ink-2">
          <Facts facts={summaryOf(data)} />
        </p>
      )}
      {data.refusal !== null && (
        <p className="px-3 py-2">
          <span className="font-medium text-red">The request would be rejected:</span> {data.refusal}
        </p>
      )}
      {data.targets.length > 0 && (
        <ol className="divide-y divide-line" aria-label="Targets in the order of trial" aria-live="polite">
          {data.targets.map((target) => (
            <li key={target.target}>
              <TargetRow target={target} place={tried.indexOf(target) + 1} />
            </li>
          ))}
        </ol>
      )}
    </Panel>
  );
}

function isTried({ verdict }: Target): boolean {
  return verdict === 'chosen' || verdict === 'fallback';
}

const VERDICTS: Readonly<Record<Target['verdict'], readonly [word: string, tone: Tone]>> = {
  chosen: ['Chosen', 'good'],
  fallback: ['Fallback', 'neutral'],
  skipped: ['Skipped', 'attention'],
  filtered: ['Unsuitable', 'neutral'],
};

interface TargetRowProps {
  readonly target: Target;
  /** From 1; 0: it is not tried. */
  readonly place: number;
}

function TargetRow({ target, place }: TargetRowProps) {
  const zone = useClockZone();
  const [word, tone] = VERDICTS[target.verdict];
  const facts = isTried(target) ? costFacts(target) : [];
  return (
    <div className="flex items-start gap-3 px-3 py-2">
      <span className="figures w-4 shrink-0 text-right text-ink-3">{place === 0 ? '–' : place}</span>
      <div className="min-w-0 flex-1">
        <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
          <span className="min-w-0 truncate font-medium" title={target.target}>
            {target.provider}: {target.upstream_model}
          </span>
          <Badge tone={tone}>{word}</Badge>
        </p>
        <p>{reasonOf(target, zone)}</p>
        {facts.length > 0 && (
          <p className="figures text-sm text-ink-2" title={exactEstimate(target)}>
            <Facts facts={facts} />
          </p>
        )}
      </div>
    </div>
  );
}

/** Why the target has its place, or why it is left out and until when. */
function reasonOf({ verdict, why, until, faults, outcomes, last_failure }: Target, zone: string): string {
  const text = verdictText(verdict, why);
  const end = until === null ? '' : untilText(until, zone);
  if (verdict !== 'skipped') return until === null ? text : `${text} It starts at ${end}, when its pause ends.`;
  const count = faults === 0 ? '' : ` ${faults} of its last ${outcomes} requests failed`;
  const last = count === '' || last_failure === null ? '' : ` (${failureText(last_failure).toLowerCase()})`;
  return `${text}${end === '' ? '' : ` until ${end}`}.${count}${last}${count === '' ? '' : '.'}`;
}

function costFacts(target: Target): string[] {
  const { estimate_nano_usd: estimate, cache, cold_cache_nano_usd: cold, credential, strips } = target;
  return [
    estimate === null ? 'No price' : `Estimated cost ${shortUsd(estimate)}`,
    cache === 'warm' ? 'Prompt cache warm' : cold === '0' ? null : `Prompt cache cold (+${shortUsd(cold)})`,
    credential === null || credential === 'default' ? null : `Credential ${credential}`,
    strips === null ? null : `Reasoning of ${strips} is removed`,
  ].filter((fact) => fact !== null);
}

function exactEstimate({ estimate_nano_usd: estimate }: Target): string | undefined {
  return estimate === null ? undefined : `Estimated cost ${exactUsd(estimate)}`;
}

function summaryOf({ strategy, pin, needs, required_tags, input_tokens }: Explanation): string[] {
  return [
    strategy === null ? null : STRATEGY_TEXTS[strategy],
    input_tokens === null ? null : `${wholeNumber(input_tokens)} input tokens`,
    needs.length === 0 ? null : `Needs ${needs.join(', ')}`,
    required_tags.length === 0 ? null : `Requires tags ${required_tags.join(', ')}`,
    pin === null ? null : `Conversation stays at ${pin}`,
  ].filter((fact) => fact !== null);
}
