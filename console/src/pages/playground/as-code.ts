/** Renders the playground's request as code. The key is a variable, because code gets pasted into shared places. */
import type { Protocol } from './answer.ts';
import { type Members, pathOf } from './call-body.ts';

export type Language = 'curl' | 'python' | 'typescript';

export function asCode(language: Language, protocol: Protocol, baseUrl: string, body: Members): string {
  const base = baseUrl.replace(/\/+$/, '');
  if (language === 'curl') return curlCode(protocol, base, body);
  return language === 'python' ? pythonCode(protocol, base, body) : typescriptCode(protocol, base, body);
}

function curlCode(protocol: Protocol, base: string, body: Members): string {
  const header = protocol === 'messages' ? '"x-api-key: $TOLLGATE_KEY"' : '"authorization: Bearer $TOLLGATE_KEY"';
  // Escapes a quote inside single quotes of the shell: close, escaped quote, reopen.
  const text = JSON.stringify(body, null, 2).replaceAll("'", `'\\''`);
  return `curl -N ${base}${pathOf(protocol)} \\\n  -H 'content-type: application/json' \\\n  -H ${header} \\\n  -d '${text}'\n`;
}

/** The method of OpenAI's clients, and the loops that print its stream. */
const OPENAI_CALLS = {
  chat: {
    method: 'chat.completions.create',
    python: `for chunk in stream:
    if chunk.choices:
        print(chunk.choices[0].delta.content or "", end="", flush=True)`,
    typescript: "for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta.content ?? '');",
  },
  responses: {
    method: 'responses.create',
    python: `for event in stream:
    if event.type == "response.output_text.delta":
        print(event.delta, end="", flush=True)`,
    typescript: `for await (const event of stream) {
  if (event.type === 'response.output_text.delta') process.stdout.write(event.delta);
}`,
  },
} as const;

/** Both clients have their own member or method for streaming; the other members are the same. */
function withoutStream(body: Members): Members {
  const { stream: _, ...rest } = body;
  return rest;
}

function pythonCode(protocol: Protocol, base: string, body: Members): string {
  const given = indented(`**${pythonText(withoutStream(body), 0)}`);
  if (protocol !== 'messages') {
    return `import os
from openai import OpenAI

client = OpenAI(base_url=${JSON.stringify(`${base}/v1`)}, api_key=os.environ["TOLLGATE_KEY"])
stream = client.${OPENAI_CALLS[protocol].method}(
    stream=True,
${given},
)
${OPENAI_CALLS[protocol].python}
`;
  }
  return `import os
from anthropic import Anthropic

client = Anthropic(base_url=${JSON.stringify(base)}, api_key=os.environ["TOLLGATE_KEY"])
with client.messages.stream(
${given},
) as stream:
    for text in stream.text_stream:
        print(text, end="", flush=True)
`;
}

function typescriptCode(protocol: Protocol, base: string, body: Members): string {
  if (protocol !== 'messages') {
    return `import OpenAI from 'openai';

const client = new OpenAI({ baseURL: ${JSON.stringify(`${base}/v1`)}, apiKey: process.env.TOLLGATE_KEY });
const stream = await client.${OPENAI_CALLS[protocol].method}(${JSON.stringify(body, null, 2)});
${OPENAI_CALLS[protocol].typescript}
`;
  }
  return `import Anthropic from '@anthropic-ai/sdk';

const client = new Anthropic({ baseURL: ${JSON.stringify(base)}, apiKey: process.env.TOLLGATE_KEY });
const stream = client.messages.stream(${JSON.stringify(withoutStream(body), null, 2)});
stream.on('text', (text) => process.stdout.write(text));
await stream.finalMessage();
`;
}

function indented(text: string): string {
  return text
    .split('\n')
    .map((line) => `    ${line}`)
    .join('\n');
}

/** Formats JSON as a Python literal: True, False, None. JSON strings are valid in Python. */
function pythonText(value: unknown, depth: number): string {
  if (value === null || value === undefined) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value !== 'object') return JSON.stringify(value);
  const inner = '    '.repeat(depth + 1);
  const end = `\n${'    '.repeat(depth)}`;
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]';
    return `[\n${value.map((one) => `${inner}${pythonText(one, depth + 1)},`).join('\n')}${end}]`;
  }
  const entries = Object.entries(value);
  if (entries.length === 0) return '{}';
  const lines = entries.map(([name, one]) => `${inner}${JSON.stringify(name)}: ${pythonText(one, depth + 1)},`);
  return `{\n${lines.join('\n')}${end}}`;
}
