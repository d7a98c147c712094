/**
 * Renders the page docs/configuration.md: tables generated from the published schema and the presets, around fixed
 * text.
 */
import { renderConfigSchema, type SchemaNode } from '../../src/config/file/file-schema.ts';
import { PRESETS } from '../../src/providers/presets.ts';
import { ENDPOINTS, INTRODUCTION, PRICES, WITHOUT_MODELS, WITHOUT_PROVIDERS } from './page-text.ts';

/** The whole page. */
export function renderConfigPage(): string {
  const sections = Object.entries(renderConfigSchema().properties ?? {});
  return [
    '<!-- Made by `bun gateway/scripts/config-docs.ts` from the schema; a test compares the two. -->',
    '# Configuration',
    INTRODUCTION,
    ...sections.map(([name, node]) => renderSection(name, node)),
    ENDPOINTS,
    PRICES,
    WITHOUT_MODELS,
    WITHOUT_PROVIDERS,
    renderPresets(),
  ]
    .join('\n\n')
    .replace(/\n{3,}/g, '\n\n');
}

function renderSection(name: string, node: SchemaNode): string {
  const rows = renderMembers(node, '');
  const head = `## \`${name}\`\n\n${node.description ?? ''}`;
  return `${head}\n\n| member | takes | default | meaning |\n|---|---|---|---|\n${rows.join('\n')}\n`;
}

/** A row for each member, then those of the mappings within it. */
function renderMembers(node: SchemaNode, prefix: string): string[] {
  if (node.additionalProperties) return renderMembers(node.additionalProperties, `${prefix}<name>.`);
  return Object.entries(node.properties ?? {}).flatMap(([name, member]) => {
    const required = node.required?.includes(name) === true;
    const fallback = member.default === undefined ? (required ? 'required' : '') : renderDefault(member.default);
    const row = `| \`${prefix}${name}\` | ${renderTaken(member)} | ${fallback} | ${escapeCell(member.description ?? '')} |`;
    const value = member.items ?? member;
    const inner = value.anyOf?.find((option) => option.properties !== undefined) ?? value;
    return [row, ...renderMembers(inner, `${prefix}${name}${member.items === undefined ? '' : '[]'}.`)];
  });
}

function renderTaken(node: SchemaNode): string {
  if (node.items !== undefined) return `list: ${renderTaken(node.items)}`;
  if (node.properties !== undefined) return 'mapping';
  if (node.additionalProperties) return `mapping: ${renderTaken(node.additionalProperties)}`;
  if (node.title !== undefined) return String(node.title);
  const words = (node.anyOf ?? []).flatMap((option) => option.enum ?? formOf(option));
  const inner = (node.anyOf ?? []).flatMap((option) => (option.anyOf || option.title ? [renderTaken(option)] : []));
  const all = [...inner, ...words.map((word) => (FORMS.includes(word) ? word : `\`${word}\``))];
  return all.length > 6 ? 'a name of the table below' : all.join(', ');
}

const FORMS: readonly string[] = ['mapping', 'list of mappings'];

function formOf(node: SchemaNode): readonly string[] {
  if (node.properties !== undefined) return FORMS.slice(0, 1);
  return node.items?.properties === undefined ? [] : FORMS.slice(1);
}

function renderDefault(value: unknown): string {
  return `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;
}

function renderPresets(): string {
  const rows = PRESETS.map(({ name, title, kind, baseUrl, credentialVariables, catalogProvider }) => {
    const variables = credentialVariables.map((variable) => `\`${variable}\``).join(' or ') || 'none';
    return `| \`${name}\` | ${title} | ${kind} | ${baseUrl} | ${variables} | ${catalogProvider === null ? 'no' : 'yes'} |`;
  });
  const head = '| name | host | kind | address | variable | in the catalogue |\n|---|---|---|---|---|---|';
  return `## Known hosts\n\n${head}\n${rows.join('\n')}\n`;
}

function escapeCell(text: string): string {
  return text.replaceAll('|', '\\|');
}
