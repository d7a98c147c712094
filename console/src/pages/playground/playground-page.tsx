/**
 * Renders the playground: one conversation, one or two models, any protocol; or a stored request and its answer beside
 * that of another model. It sends real calls.
 */
import { Code, Columns2, Play, Square } from 'lucide-react';
import { useState } from 'react';
import { PROTOCOL_TITLES } from '../../lib/protocols.ts';
import { useReply } from '../../lib/queries.ts';
import { useAccount, useSession } from '../../lib/session.ts';
import { useFilters } from '../../route/route.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Segmented, SelectField } from '../../ui/field.tsx';
import { Empty, Page, SkeletonPanel } from '../../ui/page.tsx';
import type { ModelView } from '../models/model-facts.ts';
import type { Protocol } from './answer/answer.ts';
import { AnswerPane } from './answer/answer-pane.tsx';
import { figuresOf, OriginalPane } from './answer/original-pane.tsx';
import { type Asked, useRun } from './answer/use-run.ts';
import { callBody, EMPTY_PROMPT, promptErrors, protocolOf } from './body/call-body.ts';
import CodeDialog from './body/code-dialog.tsx';
import { useKeptPrompt } from './kept-prompt.ts';
import { KeyPanel, useKeyChoice } from './key-panel.tsx';
import { PromptForm } from './prompt-form.tsx';
import { useStoredRequest } from './stored-request.ts';

const PROTOCOLS: readonly Protocol[] = ['chat', 'messages', 'responses'];

export default function PlaygroundPage() {
  const { account } = useAccount();
  const session = useSession();
  const owner = JSON.stringify([session.data?.person?.id, account]);
  const { data, error, refetch } = useReply('GET /accounts/{account}/models', { path: { account } });
  if (data === undefined || data.models.length === 0) {
    return (
      <Page title="Playground">
        {error !== null && <ErrorNote error={error} onRetry={() => void refetch()} />}
        {data === undefined && error === null && <SkeletonPanel heightPx={420} />}
        {data !== undefined && <Empty title="No models yet">Add a provider to try its models here.</Empty>}
      </Page>
    );
  }
  return <Playground key={owner} owner={owner} models={data.models} />;
}

interface PlaygroundProps {
  /** The user and the account: what they entered is shown only to them. */
  readonly owner: string;
  readonly models: readonly ModelView[];
}

function Playground({ owner, models }: PlaygroundProps) {
  const [search, change] = useFilters();
  const [prompt, setPrompt] = useKeptPrompt(owner);
  const stored = useStoredRequest(search.request, prompt, setPrompt);
  const key = useKeyChoice(owner, stored.detail?.call.workspace ?? null);
  const [wasSent, setSent] = useState(false);
  const [showsCode, setShowsCode] = useState(false);
  const one = useRun(`${owner} first`);
  const other = useRun(`${owner} second`);
  const wanted = search.model ?? stored.detail?.call.model;
  const first = models.find(({ name, aliases }) => name === wanted || aliases.includes(wanted ?? '')) ?? models[0];
  const second = search.with === undefined ? undefined : (models.find(({ name }) => name === search.with) ?? models[0]);
  const protocol = protocolOf(prompt, PROTOCOLS.find((name) => name === search.protocol) ?? 'chat');
  const chosen = [first, second].filter((model) => model !== undefined);
  const isRunning = one.run?.state === 'running' || other.run?.state === 'running';
  // Later turns have nothing to be compared with.
  const original = prompt.base !== null && prompt.exchanges.length === 0 ? stored.detail : null;
  const panes = chosen.length + (original === null ? 0 : 1);
  const hasErrors = Object.keys(promptErrors(prompt)).length > 0;

  function send(): void {
    setSent(true);
    // A shortcut sends too, and each request is billed.
    if (isRunning || hasErrors || key.credential === null) return;
    const { user, images } = prompt;
    for (const [at, model] of chosen.entries()) {
      const body = callBody(protocol, model.name, prompt);
      (at === 0 ? one : other).begin(key.credential, { protocol, model: model.name, body, message: { user, images } });
    }
  }
  function clearRuns(): void {
    one.clear();
    other.clear();
  }
  /** What was entered since the message was sent is the next one. */
  function goOn({ model, message }: Asked, answer: string): void {
    clearRuns();
    setSent(false);
    setPrompt({
      ...prompt,
      exchanges: [...prompt.exchanges, { ...message, answer, model }],
      user: prompt.user === message.user ? '' : prompt.user,
      images: prompt.images === message.images ? [] : prompt.images,
    });
  }
  function stop(): void {
    one.stop();
    other.stop();
  }

  return (
    <Page
      title="Playground"
      lead="Send requests from your browser and compare models."
      action={
        <>
          <Button icon={<Code size={14} aria-hidden="true" />} onClick={() => setShowsCode(true)}>
            View code
          </Button>
          {isRunning ? (
            <Button icon={<Square size={13} aria-hidden="true" />} onClick={stop}>
              Stop
            </Button>
          ) : (
            <Button kind="primary" icon={<Play size={13} aria-hidden="true" />} onClick={send}>
              Send
            </Button>
          )}
        </>
      }
      filters={
        <>
          {prompt.base === null && (
            <Segmented<Protocol>
              label="Protocol"
              value={protocol}
              choices={PROTOCOLS.map((name) => [name, PROTOCOL_TITLES[name]])}
              onChoose={(next) => change({ protocol: next === 'chat' ? undefined : next })}
            />
          )}
          <ModelChoice
            label="Model"
            models={models}
            value={first?.name ?? ''}
            onChoose={(model) => change({ model })}
          />
          {second === undefined ? (
            <Button
              icon={<Columns2 size={14} aria-hidden="true" />}
              onClick={() => change({ with: models.find(({ name }) => name !== first?.name)?.name ?? first?.name })}
            >
              Compare
            </Button>
          ) : (
            <>
              <ModelChoice
                label="Compare with"
                models={models}
                value={second.name}
                onChoose={(name) => change({ with: name })}
              />
              <Button kind="quiet" onClick={() => change({ with: undefined })}>
                Stop comparing
              </Button>
            </>
          )}
        </>
      }
    >
      {stored.problem !== null && (
        <p role="alert" className="rounded-md border border-amber/35 bg-amber-soft px-3 py-2">
          {stored.problem}
        </p>
      )}
      {stored.error !== null && <ErrorNote error={stored.error} onRetry={stored.retry} />}
      <div className="grid items-start gap-4 lg:grid-cols-[360px_minmax(0,1fr)]">
        <div className="flex min-w-0 flex-col gap-4">
          <PromptForm
            prompt={prompt}
            onChange={setPrompt}
            wasSent={wasSent}
            onSend={send}
            onRemoveBase={() => {
              change({ request: undefined });
              clearRuns();
              setPrompt(EMPTY_PROMPT);
            }}
          />
          <KeyPanel choice={key} />
          {wasSent && key.credential === null && (
            <p role="alert" className="text-red">
              Enter an API key.
            </p>
          )}
        </div>
        <div className={panes === 1 ? 'min-w-0' : 'grid min-w-0 gap-4 xl:grid-cols-2'}>
          {original !== null && <OriginalPane detail={original} />}
          {chosen.map((model, at) => {
            const { run } = at === 0 ? one : other;
            // Another model may have been chosen since.
            const answering = models.find(({ name }) => name === run?.asked.model) ?? model;
            return (
              <AnswerPane
                // biome-ignore lint/suspicious/noArrayIndexKey: the same model may appear twice
                key={at}
                model={answering.name}
                price={answering.price}
                run={run}
                original={original === null ? null : figuresOf(original)}
                onContinue={(text) => run !== null && goOn(run.asked, text)}
              />
            );
          })}
        </div>
      </div>
      {showsCode && first !== undefined && (
        <CodeDialog
          protocol={protocol}
          body={callBody(protocol, first.name, prompt)}
          onClose={() => setShowsCode(false)}
        />
      )}
    </Page>
  );
}

interface ModelChoiceProps {
  readonly label: string;
  readonly models: readonly ModelView[];
  readonly value: string;
  readonly onChoose: (name: string) => void;
}

function ModelChoice({ label, models, value, onChoose }: ModelChoiceProps) {
  return (
    <SelectField
      label={label}
      className="w-full flex-row! items-center gap-2! whitespace-nowrap sm:w-auto sm:max-w-80"
      value={value}
      onChange={(event) => onChoose(event.target.value)}
    >
      {models.map(({ name }) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </SelectField>
  );
}
