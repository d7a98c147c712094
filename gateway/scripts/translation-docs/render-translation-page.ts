/**
 * Renders the page docs/translation.md: a table for each direction, generated from the tables that the formats' codecs
 * must follow.
 */

import { REQUEST_MEMBERS as CHAT_MEMBERS } from '../../src/protocols/chat/client/parse-request.ts';
import { RENDERED_FEATURES as CHAT_FEATURES } from '../../src/protocols/chat/upstream/rendered-features.ts';
import { REQUEST_MEMBERS as MESSAGES_MEMBERS } from '../../src/protocols/messages/client/parse-request.ts';
import { RENDERED_FEATURES as MESSAGES_FEATURES } from '../../src/protocols/messages/upstream/rendered-features.ts';
import type { Fate, FeatureFates, MemberRow } from '../../src/protocols/request/fates.ts';
import { INTRODUCTION } from './page-text.ts';

/** The whole page. */
export function renderTranslationPage(): string {
  return [
    '<!-- Made by `bun gateway/scripts/config-docs.ts` from the tables of the formats; a test compares the two. -->',
    '# Translation',
    INTRODUCTION,
    '## From chat completions to messages',
    renderDirection(CHAT_MEMBERS, MESSAGES_FEATURES),
    '## From messages to chat completions',
    renderDirection(MESSAGES_MEMBERS, CHAT_FEATURES),
  ]
    .join('\n\n')
    .replace(/\n{3,}/g, '\n\n');
}

/**
 * The table of one direction: each member of the client's format, and what becomes of it at an upstream of the other
 * format.
 */
export function renderDirection(members: readonly MemberRow[], upstream: FeatureFates): string {
  const rows = members.map((row) => {
    const { fate, note } = findEnd(row, upstream);
    return `| \`${row.member}\` | ${fate} | ${escapeCell(note)} |`;
  });
  return `| member | fate | how, or why |\n|---|---|---|\n${rows.join('\n')}\n`;
}

function findEnd({ member, becomes, fate, note }: MemberRow, upstream: FeatureFates): { fate: Fate; note: string } {
  if (becomes === null) {
    if (fate === null) throw new Error(`${member}: the table names neither what it becomes nor its fate`);
    return { fate, note };
  }
  if (becomes === 'model' || becomes === 'stream' || becomes === 'turns') return { fate: 'carried', note };
  const feature = upstream[becomes];
  return { fate: feature.fate, note: [note, feature.note].filter((words) => words !== '').join('; ') };
}

function escapeCell(text: string): string {
  return text.replaceAll('|', '\\|');
}
