/** Simulates the limits that a request would meet, without sending it. */
import { type FormEvent, useState } from 'react';
import { useAction } from '../../lib/queries.ts';
import { Reasons } from '../../policy/reasons.tsx';
import { Money } from '../../ui/amounts.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { ErrorNote, memberError } from '../../ui/error-note.tsx';
import { CheckField, SelectField, TextField } from '../../ui/field.tsx';
import { Panel } from '../../ui/page.tsx';
import type { LimitNode } from './limit-tree.ts';

interface SimulatorProps {
  readonly account: string;
  readonly keys: readonly LimitNode[];
}

export function Simulator({ account, keys }: SimulatorProps) {
  const [key, setKey] = useState(keys[0]?.subject.id ?? '');
  const [model, setModel] = useState('');
  const [endUser, setEndUser] = useState('');
  const [input, setInput] = useState('1000');
  const [most, setMost] = useState('');
  const [stream, setStream] = useState(true);
  const [isRead, setIsRead] = useState(false);
  const simulate = useAction('POST /accounts/{account}/limits/simulate');
  const inputTokens = readTokens(input, 0);
  const maxTokens = most.trim() === '' ? null : readTokens(most, 1);
  const fault = (member: string) => memberError(simulate.error, member);

  function submit(event: FormEvent): void {
    event.preventDefault();
    setIsRead(true);
    if (model.trim() === '' || inputTokens === undefined || maxTokens === undefined) return;
    simulate.mutate({
      path: { account },
      body: {
        key,
        model: model.trim(),
        end_user: endUser.trim() === '' ? null : endUser.trim(),
        input_tokens: inputTokens,
        max_tokens: maxTokens,
        stream,
      },
    });
  }

  return (
    <Panel className="grid grid-cols-1 gap-5 p-4 lg:grid-cols-2">
      <form onSubmit={submit} noValidate className="grid grid-cols-1 content-start gap-3 xs:grid-cols-2">
        <SelectField label="API key" value={key} error={fault('key')} onChange={({ target }) => setKey(target.value)}>
          {keys.map(({ subject, name }) => (
            <option key={subject.id} value={subject.id}>
              {name}
            </option>
          ))}
        </SelectField>
        <TextField
          label="Model"
          autoComplete="off"
          spellCheck={false}
          value={model}
          error={isRead && model.trim() === '' ? 'Enter a model.' : fault('model')}
          onChange={({ target }) => setModel(target.value)}
        />
        <TextField
          label="Input tokens"
          inputMode="numeric"
          value={input}
          error={
            isRead && inputTokens === undefined ? 'Enter a whole number up to 100,000,000.' : fault('input_tokens')
          }
          onChange={({ target }) => setInput(target.value)}
        />
        <TextField
          label="Max output tokens"
          placeholder="Model’s maximum"
          inputMode="numeric"
          value={most}
          error={
            isRead && maxTokens === undefined
              ? 'Enter a whole number of at least 1, or leave blank.'
              : fault('max_tokens')
          }
          onChange={({ target }) => setMost(target.value)}
        />
        <TextField
          label="End user"
          placeholder="None"
          autoComplete="off"
          value={endUser}
          error={fault('end_user')}
          onChange={({ target }) => setEndUser(target.value)}
        />
        <CheckField
          label="Stream"
          className="xs:mt-6"
          checked={stream}
          onChange={({ target }) => setStream(target.checked)}
        />
        <div className="xs:col-span-2">
          <Button type="submit" busy={simulate.isPending}>
            Simulate
          </Button>
        </div>
      </form>
      <div role="status" className="min-w-0 lg:border-l lg:border-line lg:pl-5">
        {simulate.error !== null && <ErrorNote error={simulate.error} />}
        {simulate.data === undefined && simulate.error === null && (
          <p className="text-read text-ink-2">
            Checks a request against each limit in order, and shows the amount that would be reserved. No request is
            sent and no limit is used.
          </p>
        )}
        {simulate.data !== undefined && simulate.error === null && (
          <div className="flex flex-col gap-3">
            <p className="flex flex-wrap items-center gap-2 text-read">
              <Badge tone={simulate.data.admitted ? 'good' : 'bad'}>
                {simulate.data.admitted ? 'Allowed' : 'Blocked'}
              </Badge>
              <span>
                <Money nanoUsd={simulate.data.hold_nano_usd} exact /> would be reserved.
              </span>
            </p>
            <Reasons reasons={simulate.data.steps} label="Checks" />
          </div>
        )}
      </div>
    </Panel>
  );
}

const TOKENS_MAX = 100_000_000;

/** Parses a token count as typed. Undefined unless it is a whole number from `least` to a hundred million. Separators are ignored. */
export function readTokens(text: string, least: number): number | undefined {
  const digits = text.replace(/[\s,_]/g, '');
  if (!/^\d{1,9}$/.test(digits)) return undefined;
  const count = Number(digits);
  return count >= least && count <= TOKENS_MAX ? count : undefined;
}
