/**
 * Previews where a request would be routed, without sending it. Operators describe or paste the request and see every
 * target with its reasons; others see the order of the targets.
 */
import { useId, useState } from 'react';
import { PROTOCOL_CHOICES } from '../../lib/protocols.ts';
import { useReply } from '../../lib/queries.ts';
import { useAccount } from '../../lib/session.ts';
import { useDebounced } from '../../lib/timers.ts';
import { CheckField, CONTROL, Segmented, TextAreaField } from '../../ui/field.tsx';
import type { ModelView } from './model-facts.ts';
import { buildRequest, LENGTHS, type PreviewBody, parseRequest } from './preview-request.ts';
import { RouteExplanation } from './route-explanation.tsx';
import { RouteSteps } from './route-steps.tsx';

type Protocol = ModelView['protocols'][number];
type Source = 'described' | 'pasted';

const SOURCES: readonly (readonly [source: Source, label: string])[] = [
  ['described', 'Describe'],
  ['pasted', 'Paste JSON'],
];

export function RoutingPreview({ model }: { readonly model: ModelView }) {
  const { may } = useAccount();
  const [protocol, setProtocol] = useState<Protocol>(model.protocols[0] ?? 'chat');
  const [key, setKey] = useState('');
  const [source, setSource] = useState<Source>('described');
  const [tokens, setTokens] = useState(0);
  const [hasTools, setTools] = useState(false);
  const [hasImage, setImage] = useState(false);
  const [text, setText] = useState('');
  const pasted = parseRequest(useDebounced(text));
  const isOperator = may('operator.read');
  const described = buildRequest(protocol, { tokens, hasTools, hasImage });
  const request: PreviewBody | undefined = source === 'pasted' ? pasted.body : described;
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <Segmented<Protocol>
          label="Protocol"
          value={protocol}
          choices={PROTOCOL_CHOICES.filter(([one]) => model.protocols.includes(one))}
          onChoose={setProtocol}
        />
        <KeyChoice value={key} onChoose={setKey} />
      </div>
      {isOperator && (
        <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
          <Segmented<Source> label="Request" value={source} choices={SOURCES} onChoose={setSource} />
          {source === 'described' && (
            <>
              <LengthChoice value={tokens} onChoose={setTokens} />
              <CheckField label="Tools" checked={hasTools} onChange={(event) => setTools(event.target.checked)} />
              <CheckField label="Image" checked={hasImage} onChange={(event) => setImage(event.target.checked)} />
            </>
          )}
        </div>
      )}
      {isOperator && source === 'pasted' && (
        <TextAreaField
          label="Request body"
          hint="The JSON that your client sends. It isn’t stored."
          error={pasted.fault}
          errorStays
          spellCheck={false}
          rows={5}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      )}
      {isOperator ? (
        <RouteExplanation model={model.name} protocol={protocol} keyId={key} request={request} />
      ) : (
        <RouteSteps model={model.name} protocol={protocol} keyId={key} />
      )}
      <p className="text-sm text-ink-3">No request is sent and no limit is used.</p>
    </div>
  );
}

interface KeyChoiceProps {
  /** The key's id; '': any. */
  readonly value: string;
  readonly onChoose: (key: string) => void;
}

function KeyChoice({ value, onChoose }: KeyChoiceProps) {
  const { account, may } = useAccount();
  const { data } = useReply('GET /accounts/{account}/keys', { path: { account } }, { enabled: may('keys.read') });
  if (data === undefined || data.keys.length === 0) return null;
  return (
    <label className="flex min-w-0 items-center gap-2">
      <span className="whitespace-nowrap text-ink-2">API key</span>
      <select className={`${CONTROL} w-auto max-w-56`} value={value} onChange={(event) => onChoose(event.target.value)}>
        <option value="">Any</option>
        {data.keys.map(({ id, name, last4 }) => (
          <option key={id} value={id}>
            {name} (tg_…{last4})
          </option>
        ))}
      </select>
    </label>
  );
}

interface LengthChoiceProps {
  readonly value: number;
  readonly onChoose: (tokens: number) => void;
}

function LengthChoice({ value, onChoose }: LengthChoiceProps) {
  const id = useId();
  return (
    <span className="flex min-w-0 items-center gap-2">
      <label htmlFor={id} className="whitespace-nowrap text-ink-2">
        Prompt
      </label>
      <select
        id={id}
        className={`${CONTROL} w-auto`}
        value={value}
        onChange={(event) => onChoose(Number(event.target.value))}
      >
        {LENGTHS.map(([tokens, label]) => (
          <option key={tokens} value={tokens}>
            {label}
          </option>
        ))}
      </select>
    </span>
  );
}
