/** Defines the snippets of curl and of client libraries. Source: the libraries' own documentation, read 2026-11. */
import { exportKey, quoted, rootUrl, type Snippet, shellText, versionUrl } from './snippet.ts';

const HELLO = 'Hello!';

export const curl: Snippet = {
  id: 'curl',
  name: 'curl',
  note: null,
  parts: ({ url, model, key }) => [
    {
      what: 'Shell',
      text: [
        `curl ${shellText(`${versionUrl(url)}/chat/completions`)} \\`,
        `  -H ${shellText(`Authorization: Bearer ${key}`)} \\`,
        "  -H 'Content-Type: application/json' \\",
        `  -d ${shellText(JSON.stringify({ model, messages: [{ role: 'user', content: HELLO }] }))}`,
      ].join('\n'),
    },
  ],
};

export const openAiTypeScript: Snippet = {
  id: 'openai-ts',
  name: 'OpenAI TypeScript',
  note: null,
  parts: (fill) => [
    exportKey(fill),
    {
      what: 'hello.mjs',
      text: `import OpenAI from 'openai';

const client = new OpenAI({ baseURL: ${quoted(versionUrl(fill.url))}, apiKey: process.env.TOLLGATE_KEY });
const answer = await client.chat.completions.create({
  model: ${quoted(fill.model)},
  messages: [{ role: 'user', content: '${HELLO}' }],
});
console.log(answer.choices[0].message.content);`,
    },
  ],
};

export const openAiPython: Snippet = {
  id: 'openai-python',
  name: 'OpenAI Python',
  note: null,
  parts: (fill) => [
    exportKey(fill),
    {
      what: 'hello.py',
      text: `import os
from openai import OpenAI

client = OpenAI(base_url=${quoted(versionUrl(fill.url))}, api_key=os.environ["TOLLGATE_KEY"])
answer = client.chat.completions.create(
    model=${quoted(fill.model)},
    messages=[{"role": "user", "content": "${HELLO}"}],
)
print(answer.choices[0].message.content)`,
    },
  ],
};

export const anthropicTypeScript: Snippet = {
  id: 'anthropic-ts',
  name: 'Anthropic TypeScript',
  note: null,
  parts: (fill) => [
    exportKey(fill),
    {
      what: 'hello.mjs',
      text: `import Anthropic from '@anthropic-ai/sdk';

const client = new Anthropic({ baseURL: ${quoted(rootUrl(fill.url))}, apiKey: process.env.TOLLGATE_KEY });
const stream = client.messages.stream({
  model: ${quoted(fill.model)},
  max_tokens: 1024,
  messages: [{ role: 'user', content: '${HELLO}' }],
});
stream.on('text', (text) => process.stdout.write(text));
await stream.finalMessage();`,
    },
  ],
};

export const anthropicPython: Snippet = {
  id: 'anthropic-python',
  name: 'Anthropic Python',
  note: null,
  parts: (fill) => [
    exportKey(fill),
    {
      what: 'hello.py',
      text: `import os
from anthropic import Anthropic

client = Anthropic(base_url=${quoted(rootUrl(fill.url))}, api_key=os.environ["TOLLGATE_KEY"])
with client.messages.stream(
    model=${quoted(fill.model)},
    max_tokens=1024,
    messages=[{"role": "user", "content": "${HELLO}"}],
) as stream:
    for text in stream.text_stream:
        print(text, end="", flush=True)`,
    },
  ],
};

/** `.chat(…)` because the provider's default is the Responses API. */
export const aiSdk: Snippet = {
  id: 'ai-sdk',
  name: 'AI SDK',
  note: 'Use .chat(…). The OpenAI provider defaults to the Responses API, which Tollgate doesn’t serve yet.',
  parts: (fill) => [
    exportKey(fill),
    {
      what: 'hello.mjs',
      text: `import { createOpenAI } from '@ai-sdk/openai';
import { generateText } from 'ai';

const tollgate = createOpenAI({ baseURL: ${quoted(versionUrl(fill.url))}, apiKey: process.env.TOLLGATE_KEY });
const { text } = await generateText({ model: tollgate.chat(${quoted(fill.model)}), prompt: '${HELLO}' });
console.log(text);`,
    },
  ],
};

export const langChain: Snippet = {
  id: 'langchain',
  name: 'LangChain',
  note: null,
  parts: (fill) => [
    exportKey(fill),
    {
      what: 'hello.py',
      text: `import os
from langchain_openai import ChatOpenAI

model = ChatOpenAI(
    model=${quoted(fill.model)},
    base_url=${quoted(versionUrl(fill.url))},
    api_key=os.environ["TOLLGATE_KEY"],
)
print(model.invoke("${HELLO}").content)`,
    },
  ],
};
