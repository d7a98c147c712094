/** Renders the choice of a member's rights: one role with its description, and all or some workspaces. */

import { useId, useRef } from 'react';
import { sentenceCase } from '../../lib/format.ts';
import { useReply } from '../../lib/queries.ts';
import type { CurrentAccount } from '../../lib/session.ts';
import { ErrorNote } from '../../ui/error-note.tsx';
import { CheckField, useShownError } from '../../ui/field.tsx';
import { SkeletonLine } from '../../ui/page.tsx';
import { grantableRoles, type Role, roleText } from './roles.ts';

export interface RoleGrant {
  readonly role: Role;
  /** Null: every workspace of the account. */
  readonly workspaces: readonly string[] | null;
}

interface RightsFieldsProps {
  readonly account: CurrentAccount;
  readonly rights: RoleGrant;
  /** Error for the workspaces; null when valid. */
  readonly workspacesError: string | null;
  readonly onRights: (rights: RoleGrant) => void;
}

export function RoleFields({ account, rights, workspacesError, onRights }: RightsFieldsProps) {
  const name = useId();
  return (
    <>
      <fieldset className="flex flex-col gap-1">
        <legend className="mb-1 font-medium">Role</legend>
        {grantableRoles(account.may).map((role) => (
          <label
            key={role}
            className="flex cursor-pointer items-start gap-2 rounded-md border border-line px-3 py-2 hover:bg-hover has-checked:border-accent has-checked:bg-accent-soft has-focus-visible:outline-2 has-focus-visible:outline-accent"
          >
            <input
              type="radio"
              name={name}
              checked={rights.role === role}
              onChange={() => onRights({ role, workspaces: role === 'owner' ? null : rights.workspaces })}
              className="mt-0.5 size-4 shrink-0 accent-accent"
            />
            <span className="min-w-0">
              <span className="font-medium">{sentenceCase(role)}</span>
              <span className="block text-sm text-ink-2">{roleText(role, account.account)}</span>
            </span>
          </label>
        ))}
      </fieldset>
      {rights.role !== 'owner' && (
        <WorkspaceChoice
          account={account}
          chosen={rights.workspaces}
          error={workspacesError}
          onChosen={(workspaces) => onRights({ ...rights, workspaces })}
        />
      )}
    </>
  );
}

interface WorkspaceChoiceProps {
  readonly account: CurrentAccount;
  readonly chosen: readonly string[] | null;
  readonly error: string | null;
  readonly onChosen: (workspaces: readonly string[] | null) => void;
}

function WorkspaceChoice({ account, chosen, error: given, onChosen }: WorkspaceChoiceProps) {
  const id = useId();
  const frame = useRef<HTMLFieldSetElement>(null);
  const { error, noteChange } = useShownError(given, frame);
  const reply = useReply('GET /accounts/{account}/workspaces', { path: { account: account.account } });
  const all = reply.data?.workspaces.map((workspace) => workspace.id) ?? null;
  return (
    <fieldset
      ref={frame}
      onChange={noteChange}
      aria-describedby={error === null ? undefined : id}
      className="flex flex-col gap-2"
    >
      <legend className="mb-1 font-medium">Workspaces</legend>
      <CheckField
        label="All workspaces, including future ones"
        checked={chosen === null}
        disabled={account.workspaces !== null}
        hint={account.workspaces === null ? undefined : 'You can grant only workspaces that you have access to.'}
        onChange={(event) => onChosen(event.target.checked ? null : [])}
      />
      {chosen !== null && reply.error !== null && (
        <ErrorNote error={reply.error} onRetry={() => void reply.refetch()} />
      )}
      {chosen !== null && (
        <div className="ml-6 flex max-h-44 flex-col gap-1.5 overflow-y-auto">
          {all === null && reply.error === null && <SkeletonLine width={40} />}
          {all?.map((workspace) => (
            <CheckField
              key={workspace}
              label={workspace}
              checked={chosen.includes(workspace)}
              onChange={(event) =>
                onChosen(event.target.checked ? [...chosen, workspace] : chosen.filter((one) => one !== workspace))
              }
            />
          ))}
        </div>
      )}
      {error !== null && (
        <p id={id} className="text-sm text-red">
          {error}
        </p>
      )}
    </fieldset>
  );
}

/** Message about incomplete rights; null when complete. */
export function workspacesFault({ workspaces }: RoleGrant): string | null {
  return workspaces?.length === 0 ? 'Choose at least one workspace, or all workspaces.' : null;
}

/** In the form that the API takes. */
export function roleBody({ role, workspaces }: RoleGrant): { role: Role; workspaces: string[] | null } {
  return { role, workspaces: workspaces === null ? null : [...workspaces] };
}
