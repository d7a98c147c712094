/** Renders a request as code, streamed as its body says. The key is a variable, because code gets pasted into shared places. */
import type { Protocol } from '../answer/answer.ts';
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

/** The method of OpenAI's clients, and what prints its stream or its answer. */
const OPENAI_CALLS = {
  chat: {
    method: 'chat.completions.create',
    python: {
      stream: `for chunk in stream:
    if chunk.choices:
        print(chunk.choices[0].delta.content or "", end="", flush=True)`,
      answer: 'print(answer.choices[0].message.content)',
    },
    typescript: {
      stream: "for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta.content ?? '');",
      answer: 'console.log(answer.choices[0]?.message.content);',
    },
  },
  responses: {
    method: 'responses.create',
    python: {
      stream: `for event in stream:
    if event.type == "response.output_text.delta":
        print(event.delta, end="", flush=True)`,
      answer: 'print(answer.output_text)',
    },
    typescript: {
      stream: `for await (const event of stream) {
  if (event.type === 'response.output_text.delta') process.stdout.write(event.delta);
}`,
      answer: 'console.log(answer.output_text);',
    },
  },
} as const;

/**
 * Parameters of the Python clients' methods. These refuse others, which `extra_body` adds to the body
 * (https://github.com/openai/openai-python#undocumented-request-params, read 2026-11-23).
 */
const PYTHON_PARAMETERS: { readonly [protocol in Protocol]: ReadonlySet<string> } = {
  chat: new Set(
    'model messages max_tokens max_completion_tokens temperature top_p n stop seed tools tool_choice response_format stream_options'.split(
      ' ',
    ),
  ),
  messages: new Set(
    'model messages max_tokens system temperature top_p top_k stop_sequences tools tool_choice metadata'.split(' '),
  ),
  responses: new Set(
    'model input instructions max_output_tokens temperature top_p tools tool_choice text reasoning previous_response_id store'.split(
      ' ',
    ),
  ),
};

/** Both clients have their own member or method for streaming; the other members are the same. */
function withoutStream(body: Members): Members {
  const { stream: _, ...rest } = body;
  return rest;
}

function pythonArguments(protocol: Protocol, body: Members): string {
  const members = Object.entries(withoutStream(body));
  const known = members.filter(([name]) => PYTHON_PARAMETERS[protocol].has(name));
  const others = members.filter(([name]) => !PYTHON_PARAMETERS[protocol].has(name));
  const extra = others.length === 0 ? '' : `,\nextra_body=${pythonText(Object.fromEntries(others), 0)}`;
  return indented(`**${pythonText(Object.fromEntries(known), 0)}${extra}`);
}

function pythonCode(protocol: Protocol, base: string, body: Members): string {
  const given = pythonArguments(protocol, body);
  const streams = body.stream === true;
  if (protocol !== 'messages') {
    const { method, python } = OPENAI_CALLS[protocol];
    return `import os
from openai import OpenAI

client = OpenAI(base_url=${JSON.stringify(`${base}/v1`)}, api_key=os.environ["TOLLGATE_KEY"])
${streams ? 'stream' : 'answer'} = client.${method}(
${streams ? '    stream=True,\n' : ''}${given},
)
${streams ? python.stream : python.answer}
`;
  }
  const client = `import os
from anthropic import Anthropic

client = Anthropic(base_url=${JSON.stringify(base)}, api_key=os.environ["TOLLGATE_KEY"])
`;
  if (!streams) {
    return `${client}answer = client.messages.create(
${given},
)
for block in answer.content:
    if block.type == "text":
        print(block.text)
`;
  }
  return `${client}with client.messages.stream(
${given},
) as stream:
    for text in stream.text_stream:
        print(text, end="", flush=True)
`;
}

function typescriptCode(protocol: Protocol, base: string, body: Members): string {
  const streams = body.stream === true;
  if (protocol !== 'messages') {
    const { method, typescript } = OPENAI_CALLS[protocol];
    return `import OpenAI from 'openai';

const client = new OpenAI({ baseURL: ${JSON.stringify(`${base}/v1`)}, apiKey: process.env.TOLLGATE_KEY });
const ${streams ? 'stream' : 'answer'} = await client.${method}(${JSON.stringify(body, null, 2)});
${streams ? typescript.stream : typescript.answer}
`;
  }
  const client = `import Anthropic from '@anthropic-ai/sdk';

const client = new Anthropic({ baseURL: ${JSON.stringify(base)}, apiKey: process.env.TOLLGATE_KEY });
`;
  const given = JSON.stringify(withoutStream(body), null, 2);
  if (!streams) {
    return `${client}const answer = await client.messages.create(${given});
for (const block of answer.content) if (block.type === 'text') console.log(block.text);
`;
  }
  return `${client}const stream = client.messages.stream(${given});
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
