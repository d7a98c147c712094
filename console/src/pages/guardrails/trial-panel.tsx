/** Tries the enabled guardrails on a text, one after another as for a request, and shows what each makes of it. */
import { useState } from 'react';
import { ApiError, ask } from '../../lib/api.ts';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/code-block.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Segmented, SelectField, TextAreaField } from '../../ui/field.tsx';
import { Panel } from '../../ui/page.tsx';
import type { Rule, Trial } from './guardrails.ts';

const OUTCOMES: Readonly<Record<Trial['outcome'], readonly [word: string, tone: Tone]>> = {
  passed: ['Passes', 'good'],
  masked: ['Masked', 'attention'],
  blocked: ['Blocked', 'bad'],
  unchecked: ['Can’t run', 'bad'],
};
const TRIED_SIDES = [
  ['request', 'As request'],
  ['answer', 'As answer'],
] as const;
type TriedSide = (typeof TRIED_SIDES)[number][0];

interface Step {
  readonly rule: Rule;
  readonly trial: Trial;
}

interface Outcome {
  readonly steps: readonly Step[];
  readonly text: string;
}

interface TrialPanelProps {
  readonly account: string;
  readonly rules: readonly Rule[];
}

export function TrialPanel({ account, rules }: TrialPanelProps) {
  const [text, setText] = useState('');
  const [side, setSide] = useState<TriedSide>('request');
  const [workspace, setWorkspace] = useState('');
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const [error, setError] = useState<Error | null>(null);
  const [busy, setBusy] = useState(false);
  const workspaces = [...new Set(rules.flatMap((rule) => rule.workspace ?? []))];
  const applied = inOrder(rules).filter(
    (rule) =>
      rule.enabled &&
      (rule.side === 'both' || rule.side === side) &&
      (rule.workspace === null || rule.workspace === workspace),
  );

  async function run(): Promise<void> {
    setBusy(true);
    setError(null);
    setOutcome(null);
    try {
      setOutcome(await tryAll(account, applied, text, side));
    } catch (fault) {
      if (!(fault instanceof ApiError)) throw fault;
      setError(fault);
    } finally {
      setBusy(false);
    }
  }

  return (
    <Panel className="flex flex-col gap-3 p-4">
      <form
        aria-label="Try"
        className="flex flex-col gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          void run();
        }}
      >
        <TextAreaField
          label="Text"
          rows={3}
          maxLength={20_000}
          placeholder="My key is sk-… and my address is ada@example.com"
          hint="Nothing is sent to a provider or stored. Hooks get the text."
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
        <div className="flex flex-wrap items-end gap-3">
          <Segmented label="Side" value={side} choices={TRIED_SIDES} onChoose={setSide} />
          {workspaces.length > 0 && (
            <SelectField
              label="Workspace"
              className="w-48"
              value={workspace}
              onChange={({ target }) => setWorkspace(target.value)}
            >
              <option value="">Any other</option>
              {workspaces.map((id) => (
                <option key={id} value={id}>
                  {id}
                </option>
              ))}
            </SelectField>
          )}
          <Button type="submit" busy={busy} disabled={text.trim() === '' || applied.length === 0}>
            Try
          </Button>
          {applied.length === 0 && <p className="self-center text-ink-3">No enabled guardrail applies here.</p>}
        </div>
      </form>
      {error !== null && <ErrorNote error={error} />}
      {outcome !== null && <OutcomeView outcome={outcome} side={side} />}
    </Panel>
  );
}

/** Hooks get what the other rules left. */
function inOrder(rules: readonly Rule[]): readonly Rule[] {
  return [...rules.filter(({ check }) => check !== 'hook'), ...rules.filter(({ check }) => check === 'hook')];
}

/** Each rule gets what the one before it left; a rule that refuses ends it. */
async function tryAll(account: string, rules: readonly Rule[], given: string, side: TriedSide): Promise<Outcome> {
  const steps: Step[] = [];
  let text = given;
  for (const rule of rules) {
    const trial = await ask('POST /accounts/{account}/guardrails/{guardrail}/test', {
      path: { account, guardrail: rule.id },
      body: { text, side },
    });
    steps.push({ rule, trial });
    text = trial.text;
    if (refuses({ rule, trial })) break;
  }
  return { steps, text };
}

function refuses({ rule, trial }: Step): boolean {
  return trial.outcome === 'blocked' || (trial.outcome === 'unchecked' && !rule.fails_open);
}

function OutcomeView({ outcome: { steps, text }, side }: { readonly outcome: Outcome; readonly side: TriedSide }) {
  const refused = steps.some(refuses);
  const isMasked = steps.some(({ trial }) => trial.outcome === 'masked');
  const what = side === 'request' ? 'request' : 'answer';
  return (
    <div role="status" className="flex flex-col gap-3 border-t border-line pt-3">
      <p className="font-medium">
        {refused
          ? side === 'request'
            ? 'The request would be blocked.'
            : 'The answer would end here.'
          : isMasked
            ? `The ${what} would pass, masked.`
            : `The ${what} would pass unchanged.`}
      </p>
      <ul className="flex flex-col gap-1.5">
        {steps.map(({ rule, trial }) => (
          <li key={rule.id} className="flex flex-wrap items-center gap-x-2 gap-y-0.5">
            <Badge tone={OUTCOMES[trial.outcome][1]}>{OUTCOMES[trial.outcome][0]}</Badge>
            <span className="font-medium">{rule.name}</span>
            <span className="min-w-0 break-words text-ink-2">
              {[
                ...trial.findings.map(({ title, count }) => (count === 1 ? title : `${title} (${count})`)),
                ...(trial.message === null ? [] : [trial.message]),
              ].join(', ')}
            </span>
          </li>
        ))}
      </ul>
      {!refused && isMasked && <CodeBlock text={text} what="text" wraps />}
    </div>
  );
}
