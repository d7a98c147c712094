/** Renders the page docs/console.md: what the console is, with tables of roles and tools generated from the program. */
import { NOT_CONNECTED, TOOLS } from '../../src/connect/tools.ts';
import { isOfWholeAccount, OPERATOR_ACCOUNT, PERMISSIONS, ROLES, roleMay } from '../../src/people/roles.ts';
import {
  CONNECT,
  CONNECT_NOTE,
  CONTENT,
  FIRST_RUN,
  INTRODUCTION,
  PERMISSION_WORDS,
  RESTRICTED,
  ROLES_INTRODUCTION,
  ROLES_NOTE,
} from './page-text.ts';

/** The whole page. */
export function renderConsolePage(): string {
  return [
    '<!-- Made by `npm run docs` from the tables of roles and of tools; a test compares. -->',
    '# The console',
    INTRODUCTION,
    FIRST_RUN,
    ROLES_INTRODUCTION,
    renderRoles(),
    `${RESTRICTED} ${renderWholeAccount()}.`,
    ROLES_NOTE,
    CONTENT,
    CONNECT,
    renderTools(),
    `${CONNECT_NOTE}\n\n${Object.values(NOT_CONNECTED)
      .map((why) => `- ${why}.`)
      .join('\n')}\n`,
  ].join('\n\n');
}

/** A row for each permission and a column for each role, for the account that runs the installation. */
function renderRoles(): string {
  const rows = PERMISSIONS.map((permission) => {
    const cells = ROLES.map((role) => (roleMay(role, permission, OPERATOR_ACCOUNT) ? 'yes' : '–'));
    return `| ${[PERMISSION_WORDS[permission], `\`${permission}\``, ...cells].join(' | ')} |`;
  });
  return [`| | permission | ${ROLES.join(' | ')} |`, `|---|---|${'---|'.repeat(ROLES.length)}`, ...rows].join('\n');
}

/** The permissions that a user restricted to some workspaces does not have. */
function renderWholeAccount(): string {
  return PERMISSIONS.filter(isOfWholeAccount)
    .map((permission) => `\`${permission}\``)
    .join(', ');
}

function renderTools(): string {
  const rows = Object.entries(TOOLS).map(([name, tool]) => {
    const endpoint = tool.protocol === 'chat' ? '`/v1/chat/completions`' : '`/v1/messages`';
    const model = tool.needsModel ? '`--model` needed' : 'its own, or `--model`';
    return `| \`${name}\` | ${tool.title} | \`${tool.file('~', {})}\` | ${endpoint} | ${model} |`;
  });
  return ['| | tool | file | calls | model |', '|---|---|---|---|---|', ...rows].join('\n');
}
