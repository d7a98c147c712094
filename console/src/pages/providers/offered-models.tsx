/** Lists the models that a provider offers: marks those that are served, and adds another with one click. */
import { Plus } from 'lucide-react';
import { useState } from 'react';
import type { Reply } from '../../../../gateway/src/console-api/contract/contract.ts';
import type { ApiError } from '../../lib/api.ts';
import { counted, retirementText } from '../../lib/format.ts';
import { useAction, useReply } from '../../lib/queries.ts';
import { useAccount } from '../../lib/session.ts';
import { STATE_TOUCHES } from '../../routing/routing-states.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { TextField } from '../../ui/field.tsx';
import { SkeletonRows } from '../../ui/page.tsx';
import { toast } from '../../ui/toasts.tsx';
import { findMarked, type MarkedModel, markModels } from './mark-models.ts';
import { TOUCHES } from './provider-form.ts';

type Listed = Reply<'POST /accounts/{account}/providers/{provider}/test'>;

interface OfferedProps {
  readonly provider: string;
  /** The test of the provider that lists its models. */
  readonly list: { readonly data: Listed | undefined; readonly error: ApiError | null };
  readonly onClose: () => void;
}

/** More are found by the filter. */
const SHOWN_MAX = 50;

export function OfferedModels({ provider, list: { data, error }, onClose }: OfferedProps) {
  const { account } = useAccount();
  const [filter, setFilter] = useState('');
  const served = useReply('GET /accounts/{account}/models', { path: { account } });
  const add = useAction('POST /accounts/{account}/routes', [...STATE_TOUCHES, ...TOUCHES]);
  const marked = markModels(data?.models ?? [], served.data?.models ?? null, provider);
  const found = findMarked(marked, filter);
  const more = found.length - SHOWN_MAX;
  const serve = (model: string) =>
    add.mutate(
      { path: { account }, body: { model, targets: [{ provider, model }] } },
      { onSuccess: () => toast({ text: `Added ${model}. Applies from the next request.`, tone: 'good' }) },
    );
  return (
    <Dialog
      title={`Models of ${provider}`}
      lead="Added models are served under their own names."
      wide
      onClose={onClose}
      footer={<Button onClick={onClose}>Close</Button>}
    >
      <div className="flex flex-col gap-3">
        {data === undefined && error === null && <SkeletonRows rows={6} />}
        {error !== null && <ErrorNote error={error} />}
        {data !== undefined && (
          <p role="status" className={data.ok ? 'text-ink-2' : 'text-red'}>
            {data.message}
          </p>
        )}
        {add.error !== null && <ErrorNote error={add.error} />}
        {marked.length > SHOWN_MAX && (
          <TextField label="Filter" type="search" value={filter} onChange={(event) => setFilter(event.target.value)} />
        )}
        <ul aria-label={`Models of ${provider}`} className="flex flex-col">
          {found.slice(0, SHOWN_MAX).map((one) => (
            <li key={one.model} className="flex items-center gap-3 border-b border-line py-1.5 last:border-0">
              <div className="min-w-0 flex-1">
                <p className="truncate font-medium" title={one.model}>
                  {one.model}
                </p>
                {one.retires !== null && <p className="text-sm text-amber">{retirementText(one.retires)}</p>}
              </div>
              <Offer marked={one} isBusy={add.isPending} onAdd={() => serve(one.model)} />
            </li>
          ))}
        </ul>
        {more > 0 && <p className="text-sm text-ink-3">And {counted(more, 'more model')}.</p>}
      </div>
    </Dialog>
  );
}

interface OfferProps {
  readonly marked: MarkedModel;
  readonly isBusy: boolean;
  readonly onAdd: () => void;
}

function Offer({ marked: { model, servedAs, takenBy }, isBusy, onAdd }: OfferProps) {
  if (servedAs.length > 0) {
    const isSame = servedAs.length === 1 && servedAs[0] === model;
    return <Badge tone="good">{isSame ? 'Served' : `Served as ${servedAs.join(', ')}`}</Badge>;
  }
  if (takenBy !== null) return <span className="text-sm text-ink-2">Name served by {takenBy}</span>;
  return (
    <Button icon={<Plus size={14} aria-hidden="true" />} aria-label={`Add ${model}`} disabled={isBusy} onClick={onAdd}>
      Add
    </Button>
  );
}
