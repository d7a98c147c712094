/** Contains the fixed text of docs/console.md, which is not generated from the table of roles. */
import type { Permission } from '../../src/people/roles.ts';

export const INTRODUCTION = `The console is at \`/app\` of the gateway itself: nothing else is installed, and it loads nothing from anywhere else. It is for
whoever runs the gateway and for each developer who holds a key: keys, usage, single calls, limits, models, providers, members,
money. All that it shows and does goes through the API below \`/app/api\`, with the same rights.`;

export const FIRST_RUN = `## The first time

The first start prints a link, \`/app/setup?token=…\`. It works once and for 15 minutes; \`bin/tollgate setup-link\` prints another one as long
as nobody has used any. Whoever opens it becomes the owner of the account \`default\`, and invites the others on the page of
members. Nobody can sign up by himself.

## Verified addresses

Tollgate sends no mail, so an invitation does not prove that its address belongs to whoever opens the link. An address is verified:

- by the set-up link, for the first owner;
- by a sign-in service (\`server.oidc\`) that creates the user and has verified the address;
- by \`bin/tollgate members verify EMAIL\`, where the gateway runs. Ask the user first: their password, passkeys and sessions keep
  working. If anybody else may have set them, make a link with \`bin/tollgate reset-password EMAIL\` before.

A user whose address is not verified is a member of the one account that invited them. Another account that invites the address
gets another user, with a password of its own, and a link of an invitation never tells whether the address has users elsewhere. An
address has at most seven such users beside the verified one. Signing in by password finds the user whose password it is; where
several users have the same one, the console asks for the account. \`--account ID\` names the user for both commands.

A sign-in service opens the user that it created or was linked to, never another one with the same address. To use a service with a
user who has a password, sign in and link it on the page of the own account. Linking keeps all other ways in and does not verify
the address. Addresses with characters outside of ASCII are refused, since they can look like others.

## Passkeys

Whoever has come in adds a passkey on the page of his account, after his password: a fingerprint, face, PIN or security key then
signs him in, without e-mail, password or second factor: by the button of the form, or out of the list that the browser shows in the
e-mail field. Only authenticators that ask for one of these are taken. The page lists when each was added and last used, under a
name that he can change. Removing one ends no session; the last way in cannot be removed.

A passkey belongs to the host of \`server.public_url\`, or of the address that the console was opened at where that is not set. It takes
https and a host name, or \`http://localhost:8080\` on the machine itself: at \`http://127.0.0.1:8080\` there are none, and none moves
along when the host changes.

## A forgotten password

No mail is sent. A link to a new password is made in one of two ways, and handed over:

- \`bin/tollgate reset-password EMAIL\`, where the gateway runs, prints one for anybody. With \`--without-second-factor\` using it turns
  the second factor off too, for whoever has lost that as well.
- On the page of members, an owner or admin makes one for a member, under “Link to a new password…”: for an owner only an owner does.
  Whoever uses the link can sign in as the member, so it is made only by those who administer every account and workspace that
  the member can open, and for a member with a verified address, who can join other accounts later, only by owners and admins of the
  account \`default\`; nobody makes one for themselves.

A link works once and for an hour, and a new one replaces it. It ends as soon as the password or a membership of the person
changes, or those of whoever made it. That it was made and that it was used stand in the audit, each without the link.

| after a link was used | |
|---|---|
| old password, every session, sign-ins that wait for a code | end |
| passkeys | are removed |
| linked sign-in services | stay |
| second factor and its recovery codes | stay; end with \`--without-second-factor\` |

## Without it

\`server: { console: off }\` in the configuration: nothing below \`/app\` is served or built, and neither is \`/status\`, which is a page
of the console and reads its API. No link is printed. \`/healthz\` and \`/readyz\` say how the service is, \`tollgate requests --request-id ID\`
looks a call up, and the command line does all else.`;

export const ROLES_INTRODUCTION = `## Who may do what

A member has one role in an account, in all of its workspaces or in some. What is the installation's own (accounts, money that
comes in, providers, prices) is for members of the account \`default\`. Its owners and admins may enter every
other account too, with the same role, and choose them where accounts are chosen.`;

/** A permission, as described to the user who has it. */
export const PERMISSION_WORDS: { readonly [permission in Permission]: string } = {
  'usage.read': 'see what was used, and what it cost',
  'logs.read': 'see single calls: who, when, which model, how they ended, what they cost',
  'content.read': 'see what was said in a call, where the workspace keeps it',
  'models.read': 'see models and prices',
  'keys.read': 'see keys, never their secrets',
  'keys.write': 'make and change keys of one’s own',
  'keys.manage': 'change everybody’s keys',
  'limits.read': 'see limits and what they leave',
  'limits.write': 'set limits',
  'workspaces.read': 'see workspaces and their policy',
  'workspaces.write': 'make workspaces, and set what they allow and keep',
  'members.read': 'see members',
  'members.write': 'invite, change and remove members',
  'owners.write': 'make and unmake owners',
  'billing.read': 'see balance, ledger and statements',
  'audit.read': 'see who changed what',
  'settings.read': 'see settings',
  'settings.write': 'change settings',
  'operator.read': 'see accounts, providers and how the installation is set up',
  'operator.write': 'make accounts, move money, set prices, enter providers',
};

/** Precedes the permissions that it is about. */
export const RESTRICTED = `Who is restricted to some workspaces sees and does only what belongs to those, whatever his role. He makes no workspace and sets no
limit of the account, though he sees those that bind his calls; of the members he sees who may enter a workspace of his, and changes
those who have no other. What is of the account as a whole, or of the installation, he does not have:`;

export const ROLES_NOTE = `Whoever made a key sets its limits as he makes it, and may tighten them; without \`limits.write\` he lifts or raises none. A disabled key
is enabled by whoever disabled it, or with \`limits.write\`.

An API key reaches the console's API as well: with the scope \`admin\` it may do what an admin may, with \`usage\` it sees usage, calls,
models, keys and limits of its workspace, never what was said. No key may more than its maker: with one who is restricted to workspaces
the scope \`admin\` is void. What is for people only (passwords, sessions) is not for keys.`;

export const CONTENT = `## What was said in calls

A record says that a call was made, how it ended and what it cost; it never holds what was said. That is kept only where a
workspace's policy says so:

| policy | what is kept |
|---|---|
| \`off\` | nothing; this is the default |
| \`errors\` | of calls whose record has an error: refused, failed, broken off, left by their client |
| \`all\` | of every call |

Kept are the request as it came in, what was sent upstream, what went out (a stream: its events, as far as it went), and what came
back from upstream where the client got that in another form. Each up to 1 MiB; the log says where something is cut. Headers are
never kept, and of a provider's words its credentials and account names are taken out.

Set it on the page of workspaces, or with \`bin/tollgate workspaces set ID --bodies errors --bodies-days 7\`. Where a workspace says
nothing (\`--bodies inherit\`, on the page “As configured”), \`defaults.log_bodies\` and \`defaults.retention\` of the [configuration](configuration.md#defaults) say it
for all. A change binds the next call; turning it off keeps what there is until its days are over. Days are counted from the call, by what the
workspace says now: fewer days take older content away within minutes.

It lies in \`content.db\` of the data folder, apart from records and ledger, compressed and encrypted with a key that is derived from
\`master.key\`, and bound to its call. It takes \`limits.content_bytes_max\` of the disk at most. It is kept after the call, by the way:
where the disk is slow, full or away, content is dropped and the log of the server says how often; calls never wait for it, and none
fails for it. \`tollgate backup FILE\` leaves it out and says so; with \`--with-content\` a copy of it lies beside, in \`FILE.content\`.

Records and ledger are kept always: records are what was charged for, and the ledger is proved from them.`;

export const CONNECT = `## Connecting a coding tool

\`\`\`sh
bin/tollgate connect claude
bin/tollgate connect opencode --model house-model
\`\`\`

makes a key named after the tool, tries one call, and writes the tool's configuration for the user who runs it, with everything else in the
file left as it was, comments too. \`--dry-run\` only shows the difference; \`--undo\` puts back what stood there before, as long as
nobody changed the file since. \`--key\` takes a key that there is already, \`--url\` a gateway on another machine (then with \`--key\`, since keys are made
on the gateway's own), \`--model\` the model to ask for.`;

export const CONNECT_NOTE = 'Not connected:';
