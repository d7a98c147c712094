/** Renders the page docs/who-pays.md: a row for each way a call can end, from the table that decides the charges. */
import { type CallEnding, type Payer, WHO_PAYS } from '../../src/billing/who-pays.ts';
import type { UsageSource } from '../../src/generation/usage.ts';
import { CHARGES, ENDINGS, INTRODUCTION, NOTES, SOURCES } from './page-text.ts';

interface Row {
  readonly charged: keyof typeof CHARGES;
  readonly source: UsageSource;
  readonly sourceOfCount?: UsageSource;
  readonly payer?: Payer;
}

/** The whole page. */
export function renderWhoPaysPage(): string {
  const rows = Object.entries(WHO_PAYS).map(([ending, row]) => renderRow(ENDINGS[ending as CallEnding], row));
  const sources = Object.entries(SOURCES).map(([source, words]) => `| \`${source}\` | ${words} |`);
  return [
    '<!-- Made by `npm run docs` from the table that calls are charged by; a test compares the two. -->',
    '# Who pays',
    INTRODUCTION,
    `| how the call ended | the account pays | \`usage_source\` |\n|---|---|---|\n${rows.join('\n')}`,
    `| \`usage_source\` | where the numbers come from |\n|---|---|\n${sources.join('\n')}`,
    NOTES,
  ].join('\n\n');
}

/** Renders one row; names both sources if our own count replaces missing numbers under another name. */
export function renderRow(ending: string, { charged, source, sourceOfCount = source, payer }: Row): string {
  const sources = [...new Set([source, sourceOfCount])].map((one) => `\`${one}\``);
  const charge = payer === 'operator' ? `${CHARGES.nothing}: the operator bears ${CHARGES[charged]}` : CHARGES[charged];
  return `| ${ending} | ${charge} | ${sources.join(', or ')} |`;
}
