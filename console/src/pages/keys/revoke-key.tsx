/** Confirms the revocation of a key and shows its recent use. */

import { counted } from '../../lib/numbers.ts';
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
      title={`Revoke ${apiKey.name}`}
      act="Revoke now"
      busy={revoke.isPending}
      error={revoke.error}
      onClose={onClose}
      onAct={() =>
        revoke.mutate(
          { path: { account, key: apiKey.id }, body: {} },
          {
            onSuccess: () => {
              toast({ text: `${apiKey.name} is revoked.` });
              onClose();
            },
          },
        )
      }
    >
      {data !== undefined ? (
        <p className="font-medium">{consequence(data.hour_requests)}</p>
      ) : error !== null ? (
        <p className="text-amber">How much it is used is not known: {error.message}</p>
      ) : (
        <SkeletonLine width={70} />
      )}
      <p>
        From now on the gateway refuses it with 401, for good. Its usage and its records stay. To stop it for a while,
        disable it instead.
      </p>
    </Confirm>
  );
}

function consequence(hourRequests: number): string {
  if (hourRequests === 0) return 'No call in the last hour used this key.';
  return `${counted(hourRequests, 'call')} in the last hour used this key.`;
}
