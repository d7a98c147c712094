/** Confirms the revocation of a key and shows its recent use. */

import { counted } from '../../lib/format.ts';
import { useAct, useReply } from '../../lib/queries.ts';
import { Confirm } from '../../ui/confirm.tsx';
import { SkeletonLine } from '../../ui/skeleton.tsx';
import { toast } from '../../ui/toasts.tsx';
import { KEY_READS, type Key } from './key.ts';

interface RevokeKeyProps {
  readonly account: string;
  readonly apiKey: Key;
  readonly onClose: () => void;
}

export function RevokeKey({ account, apiKey, onClose }: RevokeKeyProps) {
  const revoke = useAct('POST /accounts/{account}/keys/{key}/revoke', KEY_READS);
  const { data, error } = useReply('GET /accounts/{account}/keys/{key}', { path: { account, key: apiKey.id } });
  return (
    <Confirm
      title={`Revoke ${apiKey.name}?`}
      act="Revoke key"
      busy={revoke.isPending}
      error={revoke.error}
      onClose={onClose}
      onAct={() =>
        revoke.mutate(
          { path: { account, key: apiKey.id }, body: {} },
          {
            onSuccess: () => {
              toast({ text: `Revoked ${apiKey.name}.` });
              onClose();
            },
          },
        )
      }
    >
      {data !== undefined ? (
        <p className="font-medium">{consequence(data.hour_requests)}</p>
      ) : error !== null ? (
        <p className="text-amber">Couldn’t load its recent usage: {error.message}</p>
      ) : (
        <SkeletonLine width={70} />
      )}
      <p>
        Requests with this key are rejected with status 401 immediately. This can’t be undone. Usage and logs are kept.
        To block the key temporarily, disable it instead.
      </p>
    </Confirm>
  );
}

function consequence(hourRequests: number): string {
  if (hourRequests === 0) return 'This key wasn’t used in the last hour.';
  return `This key was used for ${counted(hourRequests, 'request')} in the last hour.`;
}
