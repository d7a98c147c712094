/** Renders the playground: one prompt, one or two models, any protocol. It sends real calls. */
import { Code, Columns2, Play, Square } from 'lucide-react';
import { useState } from 'react';
import { PROTOCOL_TITLES } from '../../lib/protocols.ts';
import { useReply } from '../../lib/queries.ts';
import { useAccount } from '../../lib/session.ts';
import { useFilters } from '../../route/route.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Segmented, SelectField } from '../../ui/field.tsx';
import { Empty, Page, SkeletonPanel } from '../../ui/page.tsx';
import type { ModelView } from '../models/model-facts.ts';
import type { Protocol } from './answer.ts';
import { AnswerPane } from './answer-pane.tsx';
import { callBody, type Prompt, promptErrors } from './call-body.ts';
import CodeDialog from './code-dialog.tsx';
import { KeyPanel, usePlaygroundKey } from './key-panel.tsx';
import { PromptForm } from './prompt-form.tsx';
import { useRun } from './use-run.ts';

const PROTOCOLS: readonly Protocol[] = ['chat', 'messages', 'responses'];
const EMPTY_PROMPT: Prompt = { system: '', user: '', tools: '', images: [], maxTokens: '1024', temperature: '' };

export default function PlaygroundPage() {
  const { account } = useAccount();
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
  return <Playground models={data.models} />;
}

function Playground({ models }: { readonly models: readonly ModelView[] }) {
  const [search, change] = useFilters();
  const key = usePlaygroundKey();
  const [prompt, setPrompt] = useState(EMPTY_PROMPT);
  const [wasSent, setSent] = useState(false);
  const [showsCode, setShowsCode] = useState(false);
  const one = useRun();
  const other = useRun();
  const first = models.find(({ name }) => name === search.model) ?? models[0];
  const second = search.with === undefined ? undefined : (models.find(({ name }) => name === search.with) ?? models[0]);
  const protocol = PROTOCOLS.find((name) => name === search.protocol) ?? 'chat';
  const chosen = [first, second].filter((model) => model !== undefined);
  const isRunning = one.run?.state === 'running' || other.run?.state === 'running';
  const hasErrors = Object.keys(promptErrors(prompt)).length > 0;

  function send(): void {
    setSent(true);
    if (hasErrors || key.secret === '') return;
    const chars = prompt.system.length + prompt.user.length + prompt.tools.length;
    for (const [at, model] of chosen.entries()) {
      (at === 0 ? one : other).begin(key.secret, protocol, callBody(protocol, model.name, prompt), chars);
    }
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
          <Segmented<Protocol>
            label="Protocol"
            value={protocol}
            choices={PROTOCOLS.map((name) => [name, PROTOCOL_TITLES[name]])}
            onChoose={(next) => change({ protocol: next === 'chat' ? undefined : next })}
          />
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
      <div className="grid items-start gap-4 lg:grid-cols-[360px_minmax(0,1fr)]">
        <div className="flex min-w-0 flex-col gap-4">
          <PromptForm prompt={prompt} onChange={setPrompt} wasSent={wasSent} onSend={send} />
          <KeyPanel />
          {wasSent && key.secret === '' && (
            <p role="alert" className="text-red">
              Enter an API key, or create one for the playground.
            </p>
          )}
        </div>
        <div className={second === undefined ? 'min-w-0' : 'grid min-w-0 gap-4 xl:grid-cols-2'}>
          {chosen.map((model, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the same model may appear twice
            <AnswerPane key={at} model={model.name} price={model.price} run={at === 0 ? one.run : other.run} />
          ))}
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
