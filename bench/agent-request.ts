/** Generates the 200 KB request of a coding agent: invented, and identical in every run. */

const TOOL_COUNT = 20;
const TURN_COUNT = 30;
const SYSTEM_PARAGRAPHS = 60;
const RESULT_LINES = 80;

/** Numbers from 0 to 2^32 - 1, determined by the seed alone (constants from Numerical Recipes). */
function createSequence(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const NOUNS = ['ledger', 'request', 'stream', 'balance', 'route', 'window', 'session', 'cursor', 'batch', 'grant'];
const VERBS = ['read', 'settle', 'merge', 'split', 'parse', 'render', 'reserve', 'release', 'verify', 'append'];
const PROSE = [
  'Prefer the smallest change that makes the failing test pass, and say which test it was.',
  'Never rewrite a file that you have not read in this session; quote the line you rely on as `path:line`.',
  'If a command prints "permission denied", stop and ask — do not try another way around it.',
  'Paths are absolute, e.g. "/srv/app/src"; on Windows they look like "C:\\srv\\app\\src".',
  'Answer in the user’s language (naïve café, 日本語, Ελληνικά and emoji 🚦 all occur in this code base).',
];

type Pick = (below: number) => number;

function pickFrom(words: readonly string[], pick: Pick): string {
  return words[pick(words.length)] ?? '';
}

/** One numbered line of invented code, with quotes, tabs and backslashes that JSON must escape. */
function codeLine(number: number, pick: Pick): string {
  const noun = pickFrom(NOUNS, pick);
  const verb = pickFrom(VERBS, pick);
  const forms = [
    `\tconst ${noun} = await ${verb}("${noun}-${pick(1000)}", { timeoutMs: ${pick(9000)} });`,
    `\tif (${noun}.length > ${pick(64)}) throw new Error(\`${noun}: found \${${noun}.length}\\n\`);`,
    `\t// ${verb} the ${noun} first: it's what "${pickFrom(NOUNS, pick)}" relies on`,
    `\t\treturn ${noun}.replace(/\\s+/g, " ").split("\\t").map((part) => part.trim());`,
    '',
    `export function ${verb}${noun}(from: string, to: string): Promise<void> {`,
  ];
  return `${String(number).padStart(5)}→${pickFrom(forms, pick)}`;
}

function renderCode(lines: number, pick: Pick): string {
  return Array.from({ length: lines }, (_, at) => codeLine(at + 1, pick)).join('\n');
}

function renderTool(at: number, pick: Pick): object {
  const name = `${pickFrom(VERBS, pick)}_${pickFrom(NOUNS, pick)}_${at}`;
  const member = (key: string) => [
    key,
    { type: 'string', description: `The ${key} to work on. ${pickFrom(PROSE, pick)}`, minLength: 1 },
  ];
  return {
    type: 'function',
    function: {
      name,
      description: `${PROSE.join(' ')} Use it to ${pickFrom(VERBS, pick)} one ${pickFrom(NOUNS, pick)}.`,
      parameters: {
        type: 'object',
        properties: {
          ...Object.fromEntries(['path', 'pattern', 'replacement'].map(member)),
          limit: { type: 'integer', minimum: 1, maximum: 2000, default: 200 },
          mode: { enum: ['plain', 'regex', null] },
        },
        required: ['path'],
        additionalProperties: false,
      },
    },
  };
}

/** The two messages of one turn: the assistant's tool call, and a tool result full of code. */
function renderTurn(at: number, pick: Pick): object[] {
  const id = `call_${at}_${pick(1_000_000)}`;
  const path = `/srv/app/src/${pickFrom(NOUNS, pick)}/${pickFrom(VERBS, pick)}.ts`;
  return [
    {
      role: 'assistant',
      content: `${pickFrom(PROSE, pick)} I look at "${path}" next.`,
      tool_calls: [
        { id, type: 'function', function: { name: 'read_file_0', arguments: JSON.stringify({ path, limit: 200 }) } },
      ],
    },
    { role: 'tool', tool_call_id: id, content: renderCode(RESULT_LINES - 12 + pick(24), pick) },
  ];
}

/**
 * A chat-completions body of about 200 KB as a coding agent sends it: a long system prompt, 20 tools with schemas, 60
 * messages with code, escapes and some non-ASCII text. Model `bench`, not streamed, so that the request dominates the
 * cost.
 */
export function renderAgentRequest(): string {
  const pick = createSequence(20_261_120);
  const system = Array.from({ length: SYSTEM_PARAGRAPHS }, () => `- ${pickFrom(PROSE, pick)}`).join('\n');
  const messages = [
    { role: 'system', content: `You are a coding agent.\n\n${system}\n` },
    { role: 'user', content: 'The test "settles once" fails since yesterday.\nFind out why, and fix it.' },
    ...Array.from({ length: TURN_COUNT - 1 }, (_, at) => renderTurn(at, pick)).flat(),
  ];
  const tools = Array.from({ length: TOOL_COUNT }, (_, at) => renderTool(at, pick));
  return JSON.stringify({ model: 'bench', messages, tools, tool_choice: 'auto', temperature: 0.2, max_tokens: 4096 });
}
