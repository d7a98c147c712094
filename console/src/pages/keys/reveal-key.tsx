/** Shows a key's secret once, with a snippet and a test. It cannot be closed by accident. */

import { useState } from 'react';
import { useReply } from '../../lib/queries.ts';
import { useSession } from '../../lib/session.ts';
import { SnippetChoice } from '../../snippets/snippet-choice.tsx';
import { When } from '../../ui/amounts.tsx';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/code-block.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { SelectField } from '../../ui/field.tsx';
import type { Key } from './key.ts';
import { TestKey } from './try-key.tsx';

interface RevealKeyProps {
  readonly account: string;
  readonly of: 'new key' | 'rotation';
  readonly apiKey: Key;
  readonly secret: string;
  readonly onClose: () => void;
}

export function RevealKey({ account, of, apiKey, secret, onClose }: RevealKeyProps) {
  const session = useSession().data;
  const [chosen, setChosen] = useState<string | null>(null);
  const matches = useReply('GET /accounts/{account}/model-matches', {
    path: { account },
    query: { patterns: apiKey.models?.join(',') ?? '*', workspace: apiKey.workspace },
  });
  const models = matches.data?.models ?? [];
  const model = chosen ?? models[0] ?? '';
  const { rotation } = apiKey;
  return (
    <Dialog
      title={of === 'new key' ? `API key ${apiKey.name} created` : `New secret for ${apiKey.name}`}
      lead="Copy it now. It won’t be shown again: Tollgate stores only a hash."
      wide
      closable={false}
      onClose={onClose}
      footer={
        <Button kind="primary" onClick={onClose}>
          Done
        </Button>
      }
    >
      <div className="flex flex-col gap-5">
        <div className="flex flex-wrap items-center gap-2 rounded-md border border-line-strong bg-sunken py-2 pr-2 pl-3">
          <code className="min-w-0 flex-1 basis-60 break-all select-all">{secret}</code>
          <CopyButton text={secret} what="API key" />
        </div>
        {of === 'rotation' && rotation === null && <p className="text-read">The old secret no longer works.</p>}
        {rotation !== null && (
          <p className="text-read">
            The old secret{rotation.old_last4 === null ? '' : ` …${rotation.old_last4}`} expires{' '}
            <When at={rotation.ends_at} />. Until then, the key’s page shows whether it’s still used.
          </p>
        )}
        {apiKey.scopes.includes('inference') && (
          <>
            {matches.error !== null && <ErrorNote error={matches.error} onRetry={() => void matches.refetch()} />}
            {models.length > 0 ? (
              <SelectField label="Model in snippets" value={model} onChange={({ target }) => setChosen(target.value)}>
                {models.map((one) => (
                  <option key={one}>{one}</option>
                ))}
              </SelectField>
            ) : (
              matches.data !== undefined && (
                <p className="text-amber">This key can’t use any model. Edit its allowed models or add a provider.</p>
              )
            )}
            {model !== '' && (
              <>
                <TestKey key={model} secret={secret} model={model} />
                <SnippetChoice fill={{ url: session?.public_url ?? location.origin, model, key: secret }} />
              </>
            )}
          </>
        )}
      </div>
    </Dialog>
  );
}
