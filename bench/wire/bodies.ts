/** Generates the request bodies of the wire benchmarks: deterministic, invented, shaped like real clients' bodies. */

/** A plain chat call of about 500 bytes. */
export function chatBody(): Uint8Array {
  return encode({
    model: 'gpt-4.1-mini',
    messages: [
      {
        role: 'system',
        content: 'You are a careful assistant. Answer in two sentences at most, and say so when you do not know.',
      },
      { role: 'user', content: 'What is the difference between "affect" and "effect"?\nGive one example of each.' },
      { role: 'assistant', content: 'To affect is to influence; an effect is the result.' },
      { role: 'user', content: 'And as nouns? I read that psychologists use the first one too.' },
    ],
    temperature: 0.7,
    max_tokens: 256,
    stream: true,
    stream_options: { include_usage: true },
  });
}

/** A coding agent's call of about 200 KB: 60 messages of code and tool results, 20 tools with schemas. */
export function agentBody(): Uint8Array {
  const random = pseudoRandom(7);
  const messages = Array.from({ length: 60 }, (_, turn) => ({
    role: turn % 2 === 0 ? 'user' : 'assistant',
    content: [
      { type: 'text', text: code(random, 1_400) },
      turn % 2 === 0
        ? { type: 'tool_result', tool_use_id: `toolu_${turn}`, content: code(random, 1_400) }
        : {
            type: 'tool_use',
            id: `toolu_${turn}`,
            name: 'edit_file',
            input: { path: `src/file-${turn}.ts`, text: code(random, 1_000) },
          },
    ],
  }));
  const tools = Array.from({ length: 20 }, (_, tool) => ({
    name: `tool_${tool}`,
    description: prose(random, 600),
    input_schema: {
      type: 'object',
      properties: Object.fromEntries(
        Array.from({ length: 6 }, (_, property) => [
          `argument_${property}`,
          { type: 'string', description: prose(random, 120) },
        ]),
      ),
      required: ['argument_0', 'argument_1'],
      additionalProperties: false,
    },
  }));
  return encode({
    model: 'claude-sonnet-4-5',
    max_tokens: 32_000,
    stream: true,
    system: prose(random, 4_000),
    tools,
    messages,
  });
}

function code(random: (below: number) => number, chars: number): string {
  let text = '';
  while (text.length < chars) {
    const indent = '  '.repeat(random(5));
    const call = `${word(random)}(${word(random)}, ${random(3) === 0 ? `"${word(random)}"` : word(random)})`;
    text += `${indent}const ${word(random)} = await ${call};${random(6) === 0 ? ` // ${prose(random, 30)}` : ''}\n`;
  }
  return text;
}

function prose(random: (below: number) => number, chars: number): string {
  let text = word(random);
  while (text.length < chars) text += ` ${word(random)}`;
  return text;
}

function word(random: (below: number) => number): string {
  return Array.from({ length: 3 + random(8) }, () => String.fromCharCode(97 + random(26))).join('');
}

function pseudoRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state >>> 8) % below;
  };
}

function encode(body: unknown): Uint8Array {
  return new Uint8Array(Buffer.from(JSON.stringify(body)));
}
