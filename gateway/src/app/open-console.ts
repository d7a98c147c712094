/** Owns joining the console: its API's handlers with what they work on, and its files. Holds no rule of its own. */
import type { ContentOf } from '../console-api/call-content.ts';
import { createConsoleApi } from '../console-api/console-api.ts';
import { homeHandlers } from '../console-api/home.ts';
import { createIdentify } from '../console-api/identify.ts';
import { invitationHandlers } from '../console-api/invitations.ts';
import { logHandlers } from '../console-api/logs.ts';
import { meHandlers } from '../console-api/me.ts';
import { memberHandlers } from '../console-api/members.ts';
import type { ModelDesk } from '../console-api/model-desk.ts';
import { modelHandlers } from '../console-api/models.ts';
import { passkeyHandlers } from '../console-api/passkeys.ts';
import type { PeopleParts } from '../console-api/people-parts.ts';
import { policyHandlers } from '../console-api/policy-handlers.ts';
import type { PolicyParts } from '../console-api/policy-parts.ts';
import { providerHandlers } from '../console-api/providers.ts';
import { resetHandlers } from '../console-api/resets.ts';
import { sessionHandlers } from '../console-api/session.ts';
import { setUpHandlers } from '../console-api/set-up.ts';
import { signInHandlers } from '../console-api/sign-in.ts';
import { type StatusParts, statusHandlers } from '../console-api/status.ts';
import { usageHandlers } from '../console-api/usage.ts';
import type { BodyTimeLimits } from '../gateway/arriving-body.ts';
import type { MoneyDesk } from '../gateway/money-desk.ts';
import { type ConsoleDesk, createConsoleDesk } from '../http/console-desk.ts';
import type { KeyDirectory } from '../identity/key-directory.ts';
import type { UsageReader } from '../store/usage-port.ts';
import type { Log } from '../telemetry/log.ts';
import { accountMoney } from './account-money.ts';
import { buildConsole } from './build-console.ts';
import { usageLabels } from './usage-labels.ts';

interface ConsoleParts {
  readonly directory: KeyDirectory;
  readonly people: PeopleParts;
  readonly policy: PolicyParts;
  readonly log: Log;
  readonly usage: UsageReader;
  readonly desk: MoneyDesk;
  readonly models: ModelDesk;
  /** How long the body of a request may take. */
  bodyTimes(): BodyTimeLimits;
  readonly status: Omit<StatusParts, 'desk'>;
  /** What was said in a call, for those who may see it. */
  readonly contentOf: ContentOf;
}

/** The console over the parts of a running gateway. */
export function openConsole({
  log,
  directory,
  people,
  policy,
  usage,
  desk,
  models,
  contentOf,
  status,
  bodyTimes,
}: ConsoleParts): ConsoleDesk {
  const { nowMs } = people;
  const usageParts = {
    usage,
    health: models.health,
    nowMs,
    timeZoneOf: desk.timeZoneOf,
    labelsOf: (account: string) => usageLabels(directory, people.personNames, account),
    ...accountMoney(desk, directory, nowMs),
  };
  const api = createConsoleApi({
    handlers: {
      ...sessionHandlers(people),
      ...setUpHandlers(people),
      ...signInHandlers(people),
      ...meHandlers(people),
      ...passkeyHandlers(people),
      ...invitationHandlers(people),
      ...resetHandlers(people),
      ...memberHandlers(people),
      ...homeHandlers(usageParts),
      ...usageHandlers(usageParts),
      ...logHandlers({ ...usageParts, contentOf }),
      ...modelHandlers(models),
      ...providerHandlers(models),
      ...statusHandlers({ desk: models, ...status }),
      ...policyHandlers(policy),
    },
    identify: createIdentify({ sessions: people.sessions, directory, nowMs }),
    publicUrl: people.publicUrl,
    bodyTimes,
    onFault: (route, cause) => log.error({ route, cause: String(cause) }, 'the console failed'),
  });
  return createConsoleDesk(api, buildConsole, (cause) =>
    log.error({ cause: String(cause) }, 'the console could not be built: calls are served, the console is not'),
  );
}
