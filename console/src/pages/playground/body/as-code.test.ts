/** Tests that copied code sends the same request as the playground. */
import { describe, expect, test } from 'bun:test';
import { asCode } from './as-code.ts';
import { callBody, EMPTY_PROMPT } from './call-body.ts';

const PROMPT = { ...EMPTY_PROMPT, user: "it's", maxTokens: '64' };
const CHAT = callBody('chat', 'm', PROMPT);
const MESSAGES = callBody('messages', 'm', PROMPT);
const RESPONSES = callBody('responses', 'm', PROMPT);

describe('asCode', () => {
  test('quotes the body for a shell and keeps the key a variable', () => {
    const code = asCode('curl', 'chat', 'https://gate.example/', CHAT);
    expect(code).toContain('https://gate.example/v1/chat/completions');
    expect(code).toContain('Bearer $TOLLGATE_KEY');
    expect(code).toContain(`"it'\\''s"`);
  });
  test('a shell passes the body unchanged', async () => {
    const code = asCode('curl', 'messages', 'https://gate.example', MESSAGES).replace(/^curl -N /, 'printf "%s\\n" ');
    const printed = await new Response(Bun.spawn(['sh', '-c', code], { env: { TOLLGATE_KEY: 'k' } }).stdout).text();
    expect(JSON.parse(printed.slice(printed.indexOf('\n-d\n') + 4))).toEqual(MESSAGES);
    expect(printed).toContain('x-api-key: k');
  });
  test('base URLs end in /v1 for OpenAI’s clients only', () => {
    expect(asCode('python', 'responses', 'https://g', RESPONSES)).toContain('base_url="https://g/v1"');
    expect(asCode('typescript', 'responses', 'https://g', RESPONSES)).toContain('baseURL: "https://g/v1"');
    expect(asCode('python', 'chat', 'https://g', CHAT)).toContain('base_url="https://g/v1"');
    expect(asCode('python', 'messages', 'https://g', MESSAGES)).toContain('base_url="https://g",');
    expect(asCode('typescript', 'chat', 'https://g', CHAT)).toContain('baseURL: "https://g/v1"');
    expect(asCode('typescript', 'messages', 'https://g', MESSAGES)).toContain('baseURL: "https://g",');
  });
  test('Responses has its own method, path and events', () => {
    expect(asCode('curl', 'responses', 'https://g', RESPONSES)).toContain('https://g/v1/responses');
    for (const language of ['python', 'typescript'] as const) {
      const code = asCode(language, 'responses', 'https://g', RESPONSES);
      expect(code).toContain('client.responses.create(');
      expect(code).toContain('response.output_text.delta');
    }
    const program = asCode('typescript', 'responses', 'https://g', RESPONSES);
    expect(new Bun.Transpiler({ loader: 'ts' }).transformSync(program)).toContain('TOLLGATE_KEY');
  });
  test.each(['chat', 'messages', 'responses'] as const)('%s without a stream prints the whole answer', (protocol) => {
    const body = { ...callBody(protocol, 'm', PROMPT), stream: false };
    for (const language of ['python', 'typescript'] as const) {
      const code = asCode(language, protocol, 'https://g', body);
      expect(code).toContain('answer = ');
      expect(code).toContain('.create(');
      expect(code).not.toContain('stream.');
      expect(code).not.toContain('stream=True');
    }
    const program = asCode('typescript', protocol, 'https://g', body);
    expect(new Bun.Transpiler({ loader: 'ts' }).transformSync(program)).toContain('TOLLGATE_KEY');
  });
  test('members that a Python client does not know go into its extra body', () => {
    const code = asCode('python', 'messages', 'https://g', { ...MESSAGES, context_management: { edits: [] } });
    expect(code).toContain(`    extra_body={
        "context_management": {
            "edits": [],
        },
    },
) as stream:`);
    expect(asCode('python', 'chat', 'https://g', CHAT)).not.toContain('extra_body');
  });
  test('uses Python literals', () => {
    const code = asCode('python', 'chat', 'https://g', CHAT);
    expect(code).toContain('"include_usage": True,');
    expect(code).not.toContain('true');
    expect(code).not.toContain('"stream":');
  });
});
