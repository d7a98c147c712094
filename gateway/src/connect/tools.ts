/**
 * Lists the coding tools that can be connected: where each stores its configuration, and how to edit it. Touches no
 * file.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser';
import type { ClientProtocolName } from '../protocols/names.ts';

const TRIAL_PROMPT = 'Answer with the word: ready';
const TRIAL_MESSAGES = [{ role: 'user', content: TRIAL_PROMPT }];

/** The path and the body of a trial call of a model in each format. */
export const TRIAL_CALLS = {
  chat: (model: string) => ({ path: '/v1/chat/completions', body: { model, messages: TRIAL_MESSAGES } }),
  messages: (model: string) => ({ path: '/v1/messages', body: { model, messages: TRIAL_MESSAGES, max_tokens: 64 } }),
  responses: (model: string) => ({ path: '/v1/responses', body: { model, input: TRIAL_PROMPT, store: false } }),
  gemini: (model: string) => ({
    path: `/v1beta/models/${encodeURIComponent(model)}:generateContent`,
    body: { contents: [{ role: 'user', parts: [{ text: TRIAL_PROMPT }] }] },
  }),
} as const satisfies { readonly [protocol in ClientProtocolName]?: unknown };
export type ToolProtocol = keyof typeof TRIAL_CALLS;

/** The settings to connect a tool with. */
export interface Connection {
  /** The gateway's address, without a trailing slash and without `/v1`. */
  readonly url: string;
  readonly key: string;
  /** Null: the tool chooses. */
  readonly model: string | null;
}

/** A file of a tool. */
export interface ToolFile {
  /** As the tool resolves it. */
  path(home: string, environment: Readonly<Record<string, string | undefined>>): string;
  /** Its text, connected. Throws an Error if the text is not in its format. */
  edit(text: string, connection: Connection): string;
}

export interface Tool {
  readonly title: string;
  /** How it calls the gateway. */
  readonly protocol: ToolProtocol;
  /** It has no default model: the user must name one. */
  readonly needsModel: boolean;
  /** The command that starts it. */
  readonly starts: string;
  readonly files: readonly ToolFile[];
}

/** Claude Code’s file expects the address without `/v1`, the others with it. */
const openAiBase = ({ url }: Connection) => `${url}/v1`;

export const TOOLS: Readonly<Record<string, Tool>> = {
  /** https://code.claude.com/docs/en/llm-gateway and /settings (read 2026-11-22). */
  claude: {
    title: 'Claude Code',
    protocol: 'messages',
    needsModel: false,
    starts: 'claude',
    files: [
      {
        path: (home, { CLAUDE_CONFIG_DIR }) => join(CLAUDE_CONFIG_DIR || join(home, '.claude'), 'settings.json'),
        edit(text, { url, key, model }) {
          const members: (readonly [string, string])[] = [
            ['ANTHROPIC_BASE_URL', url],
            ['ANTHROPIC_AUTH_TOKEN', key],
          ];
          // Its background work requests a small model by its own name, which the gateway may not serve.
          if (model !== null) members.push(['ANTHROPIC_MODEL', model], ['ANTHROPIC_DEFAULT_HAIKU_MODEL', model]);
          return members.reduce((edited, [name, value]) => setJsonMember(edited, ['env', name], value), text);
        },
      },
    ],
  },
  /**
   * https://developers.openai.com/codex/config-reference (read 2026-11-23), tried with 0.169. The key is in the file
   * because an app does not see a shell's variables; what Codex stores for its own sign-in is not used.
   */
  codex: {
    title: 'Codex',
    protocol: 'responses',
    needsModel: true,
    starts: 'codex',
    files: [
      {
        path: (home, { CODEX_HOME }) => join(CODEX_HOME || join(home, '.codex'), 'config.toml'),
        edit: (text, connection) =>
          setToml(text, { model: connection.model ?? '', model_provider: 'tollgate' }, 'model_providers.tollgate', {
            name: 'Tollgate',
            base_url: openAiBase(connection),
            experimental_bearer_token: connection.key,
          }),
      },
    ],
  },
  /**
   * Its configuration names neither a key nor an address, so both come from its file of variables, which it reads in
   * folders that the user trusts. Without the setting it takes the address for a sign-in that it does not know
   * (https://geminicli.com/docs/reference/configuration, read 2026-11-23, and the program, 0.61).
   */
  gemini: {
    title: 'Gemini CLI',
    protocol: 'gemini',
    needsModel: true,
    starts: 'gemini',
    files: [
      {
        path: (home, { GEMINI_CLI_HOME }) => join(GEMINI_CLI_HOME || home, '.gemini', '.env'),
        edit: (text, { url, key, model }) =>
          setVariables(text, { GEMINI_API_KEY: key, GOOGLE_GEMINI_BASE_URL: url, GEMINI_MODEL: model ?? '' }),
      },
      {
        path: (home, { GEMINI_CLI_HOME }) => join(GEMINI_CLI_HOME || home, '.gemini', 'settings.json'),
        edit: (text) => setJsonMember(text, ['security', 'auth', 'selectedType'], 'gemini-api-key'),
      },
    ],
  },
  /** https://opencode.ai/docs/providers#custom-provider (read 2026-11-22). */
  opencode: {
    title: 'OpenCode',
    protocol: 'chat',
    needsModel: true,
    starts: 'opencode',
    files: [
      {
        path(home, { XDG_CONFIG_HOME }) {
          const folder = join(XDG_CONFIG_HOME || join(home, '.config'), 'opencode');
          const withComments = join(folder, 'opencode.jsonc');
          return existsSync(withComments) ? withComments : join(folder, 'opencode.json');
        },
        edit(text, connection) {
          const model = connection.model ?? '';
          const provider = ['provider', 'tollgate'];
          let edited = text.trim() === '' ? '{\n  "$schema": "https://opencode.ai/config.json"\n}\n' : text;
          edited = setJsonMember(edited, [...provider, 'npm'], '@ai-sdk/openai-compatible');
          edited = setJsonMember(edited, [...provider, 'name'], 'Tollgate');
          edited = setJsonMember(edited, [...provider, 'options', 'baseURL'], openAiBase(connection));
          edited = setJsonMember(edited, [...provider, 'options', 'apiKey'], connection.key);
          edited = setJsonMember(edited, [...provider, 'models', model, 'name'], model);
          return setJsonMember(edited, ['model'], `tollgate/${model}`);
        },
      },
    ],
  },
  /** https://aider.chat/docs/config/aider_conf.html and /docs/llms/openai-compat.html (read 2026-11-22). */
  aider: {
    title: 'Aider',
    protocol: 'chat',
    needsModel: true,
    starts: 'aider',
    files: [
      {
        path: (home) => join(home, '.aider.conf.yml'),
        edit(text, connection) {
          let edited = setYamlText(text, 'openai-api-base', openAiBase(connection));
          edited = setYamlText(edited, 'openai-api-key', connection.key);
          // The prefix selects its client; the rest goes to the gateway.
          return setYamlText(edited, 'model', `openai/${connection.model ?? ''}`);
        },
      },
    ],
  },
  /** https://docs.continue.dev/customize/model-providers/top-level/openai (read 2026-11-22). */
  continue: {
    title: 'Continue',
    protocol: 'chat',
    needsModel: true,
    starts: 'cn',
    files: [
      {
        path: (home) => join(home, '.continue', 'config.yaml'),
        edit(text, connection) {
          const whole = text.trim() === '' ? 'name: Local Config\nversion: 1.0.0\nschema: v1\n' : text;
          return setYamlItem(whole, 'models', [
            ['name', 'Tollgate'],
            ['provider', 'openai'],
            ['model', connection.model ?? ''],
            ['apiBase', openAiBase(connection)],
            ['apiKey', connection.key],
            ['roles', ['chat', 'edit', 'apply']],
          ]);
        },
      },
    ],
  },
};

/** Tools that users ask for but that cannot be connected, with the reason. */
export const NOT_CONNECTED: Readonly<Record<string, string>> = {
  cline:
    'Cline keeps its settings in its editor’s own storage, not in a file: choose "OpenAI Compatible" in its settings, with the address and key of the gateway',
};

type Texts = Readonly<Record<string, string>>;

/**
 * The text with members set at the top level, each on one line, and with a table of exactly these members. Everything
 * else stays. Throws an Error if the text is not TOML, or has one of them in a form that is not edited line by line.
 */
export function setToml(text: string, top: Texts, table: string, members: Texts): string {
  const before = parseToml(text);
  const lines = toLines(text);
  setTable(lines, table, renderToml(members));
  for (const [name, value] of Object.entries(top).toReversed()) {
    const line = `${name} = ${JSON.stringify(value)}`;
    const written = lines.slice(0, lines.findIndex(isHeader)).findIndex((one) => one.split('=')[0]?.trim() === name);
    if (written === -1) lines.unshift(line);
    else lines[written] = line;
  }
  const edited = `${lines.join('\n')}\n`;
  const path = table.split('.');
  const expected = { ...before, ...top };
  path.reduce<Record<string, unknown>>((at, name, depth) => {
    const inner = depth === path.length - 1 ? members : { ...(at[name] as object | undefined) };
    at[name] = inner;
    return inner as Record<string, unknown>;
  }, expected);
  if (!Bun.deepEquals(parseToml(edited), expected)) {
    throw new Error(`${Object.keys(top).join(', ')} or ${table} has another form than one line for each member`);
  }
  return edited;
}

/** Replaces the lines of a table, or adds it at the end. Comments before the next table belong to that one. */
function setTable(lines: string[], name: string, members: readonly string[]): void {
  const whole = [`[${name}]`, ...members];
  const begins = lines.findIndex((line) => /^\s*\[(.*)\]\s*(#.*)?$/.exec(line)?.[1]?.trim() === name);
  if (begins === -1) {
    lines.push('', ...whole);
    return;
  }
  const next = lines.findIndex((line, at) => at > begins && isHeader(line));
  let ends = next === -1 ? lines.length : next;
  while (/^\s*(#|$)/.test(lines[ends - 1] ?? '')) ends -= 1;
  lines.splice(begins, ends - begins, ...whole);
}

const isHeader = (line: string) => /^\s*\[/.test(line);

/** TOML reads JSON's strings. */
const renderToml = (members: Texts) =>
  Object.entries(members).map(([name, value]) => `${name} = ${JSON.stringify(value)}`);

function parseToml(text: string): Record<string, unknown> {
  return Bun.TOML.parse(text) as Record<string, unknown>;
}

/** The text of a file of variables with these set; comments and other variables stay. Throws an Error for a value that it cannot hold. */
export function setVariables(text: string, variables: Texts): string {
  const lines = toLines(text);
  for (const [name, value] of Object.entries(variables)) {
    const line = `${name}=${quoteVariable(name, value)}`;
    const isSet = new RegExp(`^\\s*(export\\s+)?${name}\\s*[=:]`);
    // If a name occurs twice, readers use the last line.
    const at = lines.findLastIndex((one) => isSet.test(one));
    if (at === -1) lines.push(line);
    else lines[at] = line;
  }
  return `${lines.join('\n')}\n`;
}

function quoteVariable(name: string, value: string): string {
  if (/^[\w./:@%+-]+$/.test(value)) return value;
  if (/['\r\n]/.test(value)) throw new Error(`${name}: ${JSON.stringify(value)} has a quote or a line end`);
  return `'${value}'`;
}

/** Without the end of the last line. */
function toLines(text: string): string[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

/** The text with a top-level member set to a one-line text. Throws an Error if the member exists in another form. */
export function setYamlText(text: string, name: string, value: string): string {
  const lines = text.split('\n');
  const at = lines.findIndex((line) => line.startsWith(`${name}:`));
  const line = `${name}: ${JSON.stringify(value)}`;
  if (at === -1) return appendLine(text, line);
  const next = lines[at + 1] ?? '';
  if (/^\s+\S|^- /.test(next) && !/^\s*#/.test(next)) {
    throw new Error(`line ${at + 1}: ${name} spans several lines, expected one`);
  }
  lines[at] = line;
  return lines.join('\n');
}

/**
 * The text with an item added first, as the default, to a top-level list of mappings; replaces an item with the same
 * first member. `members` in their order, each a text or a list of texts. Throws an Error if the list has another form.
 */
export function setYamlItem(
  text: string,
  list: string,
  members: readonly (readonly [name: string, value: string | readonly string[]])[],
): string {
  const lines = text.split('\n');
  const at = lines.findIndex((line) => line.startsWith(`${list}:`));
  if (at === -1) return appendLine(text, [`${list}:`, ...renderItem(members, '  ')].join('\n'));
  if (!/^\w+:\s*(#.*)?$/.test(lines[at] ?? ''))
    throw new Error(`line ${at + 1}: ${list} is on one line, expected an item per line`);
  const indent = /^(\s*)- /.exec(lines.slice(at + 1).find((line) => /^\s*- /.test(line)) ?? '')?.[1] ?? '  ';
  const item = renderItem(members, indent);
  const begins = lines.findIndex((line, index) => index > at && line === item[0]);
  if (begins === -1) {
    lines.splice(at + 1, 0, ...item);
    return lines.join('\n');
  }
  let ends = begins + 1;
  while (ends < lines.length && (lines[ends] ?? '').startsWith(`${indent}  `)) ends += 1;
  lines.splice(begins, ends - begins, ...item);
  return lines.join('\n');
}

function renderItem(
  members: readonly (readonly [name: string, value: string | readonly string[]])[],
  indent: string,
): string[] {
  return members.map(
    ([name, value], index) => `${indent}${index === 0 ? '- ' : '  '}${name}: ${JSON.stringify(value)}`,
  );
}

function appendLine(text: string, line: string): string {
  return `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${line}\n`;
}

/**
 * Returns the text with the member at `path` set to `value` (as JSON); missing objects on the way are added. An empty
 * text is an empty object. Throws an Error with the position if the text is not JSON (with comments), or with the name
 * of a member on the way that is not an object. The library's own `modify` is not used: it also formats the lines
 * around the change.
 */
export function setJsonMember(text: string, path: readonly string[], value: unknown): string {
  const whole = text.trim() === '' ? '{}\n' : text;
  let node = parseObject(whole);
  for (const [depth, name] of path.entries()) {
    if (node.type !== 'object') throw new Error(`${path.slice(0, depth).join('.')} is not an object`);
    // If a name occurs twice, readers use the last member.
    const member = node.children?.findLast(({ children }) => children?.[0]?.value === name)?.children?.[1];
    if (member === undefined) {
      const added = path.slice(depth + 1).reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);
      return addMember(whole, node, depth, `${JSON.stringify(name)}: ${render(added, depth + 1)}`);
    }
    node = member;
  }
  return splice(whole, node.offset, node.length, render(value, path.length));
}

/** Adds a member on its own line after the last one; a trailing comma stays where it is. */
function addMember(text: string, object: Node, depth: number, added: string): string {
  const line = `\n${'  '.repeat(depth + 1)}${added}`;
  const last = object.children?.at(-1);
  if (last !== undefined) return splice(text, last.offset + last.length, 0, `,${line}`);
  const [start, length] = [object.offset + 1, object.length - 2];
  const isBlank = text.slice(start, start + length).trim() === '';
  return splice(text, start, isBlank ? length : 0, `${line}\n${'  '.repeat(depth)}`);
}

function render(value: unknown, depth: number): string {
  return JSON.stringify(value, null, 2).replaceAll('\n', `\n${'  '.repeat(depth)}`);
}

function splice(text: string, at: number, length: number, by: string): string {
  return text.slice(0, at) + by + text.slice(at + length);
}

function parseObject(text: string): Node {
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true });
  const [error] = errors;
  if (root?.type === 'object' && error === undefined) return root;
  const at = error?.offset ?? root?.offset ?? 0;
  const line = text.slice(0, at).split('\n').length;
  const found = at >= text.length ? 'the end of the file' : JSON.stringify(text.slice(at, at + 10));
  const fault = error === undefined ? 'ObjectExpected' : printParseErrorCode(error.error);
  throw new Error(`line ${line}: found ${found}, ${wordsOf(fault)}`);
}

/** `CloseBraceExpected` becomes `expected close brace`, `InvalidSymbol` becomes `invalid symbol`. */
function wordsOf(code: string): string {
  const words = code.replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase();
  return words.replace(/^(.*) expected$/, 'expected $1');
}
