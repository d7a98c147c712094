/** Contains the fixed text of docs/console.md, which is not generated from the table of roles. */
import type { Permission } from '../../src/people/roles.ts';

export const INTRODUCTION = `The console is at \`/app\` of the gateway. There is nothing else to install, and it loads nothing from other hosts. Operators
and developers use it to manage API keys, usage, logs, limits, models, providers, members and billing. Everything that it
does goes through the API below \`/app/api\`, with the same permissions.`;

export const FIRST_RUN = `## First start

The first start prints a link, \`/app/setup?token=…\`. It works once, for 15 minutes; \`bin/tollgate setup-link\` prints another one
while there is no owner. The user who opens it becomes the owner of the account \`default\` and invites others on the Members
page. There is no public sign-up.

## Verified addresses

An invitation does not prove that its address belongs to the person who opens the link: the member who invites sees the link too,
also where \`server.smtp\` is configured and the invitation is sent by email. An address is verified:

- by the setup link, for the first owner;
- by a sign-in service (\`server.oidc\`) that creates the user and has verified the address;
- by \`bin/tollgate members verify EMAIL\`, where the gateway runs. Ask the user first: their password, passkeys and sessions keep
  working. If someone else may have set them, create a link with \`bin/tollgate reset-password EMAIL\` first.

A user whose address is not verified is a member of the one account that invited them. Another account that invites the address
gets another user with their own password, and an invitation link never reveals whether the address has users elsewhere. An
address has at most seven such users in addition to the verified one. Sign-in by password finds the user whose password it is;
if several users have the same one, the console asks for the account. \`--account ID\` selects the user for both commands.

A sign-in service opens the user that it created or was linked to, never another user with the same address. To use a service
with an existing user, sign in with the password and link the service on the profile page. Linking keeps all other sign-in
methods and does not verify the address. Addresses with non-ASCII characters are refused, because they can look like others.

## Passkeys

Users add a passkey on their profile page after confirming their password. A fingerprint, face, PIN or security key then signs
them in without email, password or second factor: with the button of the sign-in form, or from the list that the browser shows
in the email field. Only authenticators that verify the user are accepted. The page lists when each passkey was added and last
used, under a name that the user can change. Removing a passkey ends no session; the last sign-in method cannot be removed.

A passkey belongs to the host of \`server.public_url\`, or, if that is not set, to the host at which the console was opened. It
needs https and a host name, or \`http://localhost:8080\` on the machine itself; there are no passkeys at \`http://127.0.0.1:8080\`.
Passkeys do not move when the host changes.

## Forgotten passwords

A link to a new password is created in one of two ways. The second one also sends it to the address of the member, where
\`server.smtp\` is configured; otherwise share it privately.

- \`bin/tollgate reset-password EMAIL\`, where the gateway runs, prints a link for any user. With \`--without-second-factor\`, using it
  also turns the second factor off.
- On the Members page, owners and admins create a link for a member; only owners create one for an owner. The link allows to
  sign in as the member, so it can be created only by users who administer every account and workspace of the member. For a
  member with a verified address, who can join other accounts later, only owners and admins of the account \`default\` can create
  one. Users cannot create one for themselves.

A link works once, for one hour; a new one replaces it. It also ends when the password or a membership of the member, or of its
creator, changes. Its creation and its use are in the audit log, without the link.

| after a link was used | |
|---|---|
| old password, all sessions, sign-ins that wait for a code | end |
| passkeys | are removed |
| linked sign-in services | stay |
| second factor and its recovery codes | stay; end with \`--without-second-factor\` |

## Turn the console off

With \`server: { console: off }\` in the configuration, nothing below \`/app\` is served or built, and no \`/status\`. No setup link is
printed. \`/healthz\` and \`/readyz\` report the state of the service, \`tollgate requests --request-id ID\` looks up a request, and
everything else is done on the command line.`;

export const ROLES_INTRODUCTION = `## Roles and permissions

A member has one role in an account, in all of its workspaces or in some. Permissions for the installation (accounts, top-ups,
providers, prices) exist only in the account \`default\`. Its owners and admins can enter every other account with the same role.`;

/** A permission, as described to the user who has it. */
export const PERMISSION_WORDS: { readonly [permission in Permission]: string } = {
  'usage.read': 'see usage and cost',
  'logs.read': 'see request records',
  'views.share': 'share saved views of requests',
  'content.read': 'see stored prompts and responses',
  'models.read': 'see models and prices',
  'keys.read': 'see keys, never their secrets',
  'keys.write': 'create keys, change their own',
  'keys.manage': 'change all keys',
  'limits.read': 'see limits and what remains',
  'limits.write': 'set limits',
  'workspaces.read': 'see workspaces and their policies',
  'workspaces.write': 'create workspaces, set their policies',
  'members.read': 'see members',
  'members.write': 'invite, change and remove members',
  'owners.write': 'add and remove owners',
  'billing.read': 'see balance, ledger and statements',
  'audit.read': 'see the audit log',
  'alerts.read': 'see alerts and their rules',
  'alerts.write': 'create, change and test alerts',
  'guardrails.read': 'see guardrails',
  'guardrails.write': 'create, change and try guardrails',
  'guardrails.hooks': 'set the address of a guardrail’s hook',
  'settings.read': 'see settings',
  'settings.write': 'change settings',
  'operator.read': 'see accounts, providers and the installation',
  'operator.write': 'create accounts, move money, set prices, add providers',
};

/** Precedes the permissions that it is about. */
export const RESTRICTED = `A member who is restricted to some workspaces sees and changes only what belongs to them, whatever their role. They cannot
create workspaces or set limits of the account, but they see the limits that apply to their requests. They see members who can
enter one of their workspaces, and change those who have no other workspace. They never have the permissions for the whole
account or the installation:`;

export const ROLES_NOTE = `The creator of a key sets its limits and can tighten them later; lifting or raising one needs \`limits.write\`. A disabled key is
enabled by the member who disabled it, or with \`limits.write\`; an admin who disables a key that its creator had disabled counts as
the one who did.

API keys can also call the console API. A key with the scope \`admin\` has the permissions of an admin; with \`usage\` it reads usage,
logs, models, keys and limits of its workspace, but no prompts and responses. A key never has more permissions than its creator:
the scope \`admin\` is void if they are restricted to workspaces. Passwords and sessions are not available to keys.`;

export const QUERIES = `## Tags of keys

A tag is a name with a value, such as \`team=web\`. Up to 20 per key sort the keys of an account; they decide nothing about
requests. Data tags, which a key can *require* of the targets of its requests (\`required_tags\`), are
[something else](routes.md#require-data-tags).

\`\`\`sh
bin/tollgate keys create --name web --tag team=web --tag env=prod
bin/tollgate keys set key_… --tag env=staging --tag team=       # changes one, removes the other
\`\`\`

The API keys page shows, filters and exports tags. Usage sums up by a tag (Group by, or \`by=tag.team\` in the API), and the query
\`tag.team:web\` finds requests. Both go by the tags that the keys have now: records keep the key, not its tags.

## Many keys at once

On the API keys page, choose rows with their checkboxes or with Space; Shift with a click, or with the arrow keys, chooses a range.
The bar at the bottom disables, enables and revokes up to 200 keys, and changes their tags, limits and expiry: all of them or none,
with one entry of the audit log per key. Each key needs the rights that changing it alone needs. The same over the API:
\`POST /accounts/{account}/keys/bulk\`.

## Time zones

Ranges, days, budgets and statements follow the time zone of the account (Settings). Times of day follow it too, unless a user
chooses the zone of their browser or another one on their profile page. The tooltip of a time has its zone, and the same in UTC.

## Find requests

The query bar of the logs page completes fields and the names in use while you type; Enter lists the requests. The address keeps
the query, so a link to a page is a link to the same list. The console API takes the same text: \`GET /accounts/{account}/logs?q=\`,
also for the CSV file, the list of reasons and usage.

\`\`\`text
status:5xx duration>10s              failed after more than ten seconds
key:"nightly evaluation" cost>0.05   expensive requests of one key
-model:claude* user:none             other models, without an end user
tokens:10k..50k session:abc          a range of tokens within a session
tag.team:web                         requests of keys that have this tag now
req_0193ab                           a request id or its beginning
\`\`\`

| | |
|---|---|
| \`field:value\`, \`field:a,b\`, \`-field:value\` | one value, any of several, anything else |
| \`field:prefix*\`, \`field:"two words"\`, \`field:none\` | by the beginning, with spaces, without a value |
| \`field>n\`, \`field>=n\`, \`field<n\`, \`field:a..b\` | numbers and ranges; \`field:5..\` has no upper end |
| names | \`key\`, \`member\`, \`tag.<name>\`, \`workspace\`, \`model\`, \`served\`, \`provider\`, \`user\`, \`session\`, \`error\`, \`flag\`, \`trace\`, \`id\` |
| choices | \`status\` (\`429\`, \`5xx\`), \`outcome\`, \`reason\`, \`protocol\`, \`stream\` |
| numbers | \`cost\` (USD), \`tokens\`, \`input\`, \`output\`, \`cache\`, \`attempts\` (\`12k\`, \`1.5M\`), \`duration\`, \`ttft\` (\`250ms\`, \`10s\`, \`2m\`), \`tps\` |

All terms must hold. A click on a column's head sorts all requests of the range by it (\`sort=-cost\` in the API); the second click
turns the order around, the third returns to the newest first. Days and ranges such as *this week* follow the account's time zone,
which the pages name.

**Usage** takes the same queries, without text. Sums of requests that meet a query are exact: of all filters that the sums of usage
know at any length, of other fields up to 50,000 matching requests, or 7 days.

**The audit log** has the fields \`action\` (\`keys.create\`, \`keys.*\`), \`actor\` (name or id), \`target\` (id), \`workspace\` and
\`date\` (\`date:2026-11-21\`, \`date:2026-11-01..2026-11-21\`).

### Save views

*Columns* chooses the columns of the table. *Views* saves the query with its filters, range, columns and order under a name, for
yourself or, with the permission \`views.share\`, for everyone in the account; each reader sees the requests that they may see. A view
that was changed since says *modified*: update it or undo the changes. One view can be pinned to Home. The palette (⌘K) finds views
by name. The CSV file has the columns and the order of the list (\`columns=at,status,cost&sort=-cost\` in the API).

### Follow requests

*Live tail* adds new requests every two seconds and counts requests, errors and cost since the page was opened. *Pause* holds new
rows and says how many wait. Rows never move under the pointer.`;

export const CONTENT = `## Stored prompts and responses

A request record never contains prompts or responses. They are stored only where a workspace's policy says so:

| policy | stored |
|---|---|
| \`off\` | nothing; the default |
| \`errors\` | requests whose record has an error: refused, failed, cut, or left by the client |
| \`all\` | every request |

Tollgate stores the request as received, the request sent to the provider, the response sent to the client (of a stream, its
events as far as it went), and the provider's response if the client got another form of it. Each is truncated and flagged at
1 MiB. Headers are never stored, and credentials and account names are removed from a provider's words.

Set the policy on the Workspaces page, or with \`bin/tollgate workspaces set ID --bodies errors --bodies-days 7\`. Workspaces
without a policy (\`--bodies inherit\`) follow \`defaults.log_bodies\` and \`defaults.retention\` of the
[configuration](configuration.md#defaults). A change applies from the next request. Turning it off keeps what is stored until its
retention ends. Retention counts from the request, by the current policy: fewer days remove older content within minutes.
Content of a workspace that a restored database does not have is kept for \`defaults.retention\`.

The data is in \`content.db\` of the data folder, apart from records and ledger, compressed and encrypted with a key derived from
\`master.key\`. It takes at most \`limits.content_bytes_max\` of disk space. It is written in the background: if the disk is slow,
full or gone, content is dropped and the server's log says how often. Requests never wait or fail for it. \`tollgate backup FILE\`
leaves it out; \`--with-content\` copies it to \`FILE.content\`.

Records and ledger have no retention, because balances are proved from them.`;

export const CONNECT = `## Connect a coding tool

\`\`\`sh
bin/tollgate connect claude
bin/tollgate connect codex --model demo
\`\`\`

\`connect\` creates a key named after the tool, makes a test request and writes the tool's configuration for the current user.
Comments and all other settings stay. \`--dry-run\` shows the difference; \`--undo\` restores the file if it was not edited since.
\`--key\` uses an existing key; \`--url\` connects to a gateway on another machine and needs \`--key\`; \`--model\` selects the model.`;

export const CONNECT_NOTE = 'Not supported:';
