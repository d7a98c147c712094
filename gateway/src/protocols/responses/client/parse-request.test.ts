/** Tests parse-request.ts, parse-input.ts and parse-tools.ts: the fate of each member, item and tool. */
import { describe, expect, test } from 'bun:test';
import { startCpuClock } from '../../../../test/harness/cpu-clock.ts';
import { CallFailure } from '../../../errors/call-failure.ts';
import { summaryPart, textPart } from '../../../generation/part.ts';
import { startTranslationNotes } from '../../request/translation-notes.ts';
import { CONTEXT, outlineOf } from '../../testing/outline-of.ts';
import { RECORDED_REQUESTS } from '../testing/recorded.ts';
import { responsesClient } from './client-protocol.ts';
import { parseRequest } from './parse-request.ts';

function parse(members: object) {
  const notes = startTranslationNotes(false);
  const request = parseRequest(outlineOf({ model: 'm', input: 'hi', ...members }), notes);
  return { request, dropped: notes.dropped };
}

function refusal(members: object): string | undefined {
  try {
    parse(members);
    return undefined;
  } catch (error) {
    if (!(error instanceof CallFailure)) throw error;
    return error.details.param ?? '';
  }
}

const turnsOf = (input: unknown, members: object = {}) => parse({ input, ...members }).request.turns;

describe('input', () => {
  test.each([
    ['messages of the user', () => ({ role: 'user', content: 'a' }), 100_000],
    ['calls', (at: number) => ({ type: 'function_call', call_id: `c${at}`, name: 'f', arguments: '{}' }), 2],
  ])('of 100,000 %s is parsed in one pass', (_, item, turns) => {
    const outline = outlineOf({ model: 'm', input: Array.from({ length: 100_000 }, (_, at) => item(at)) });
    const cpuMs = startCpuClock();
    expect(parseRequest(outline, startTranslationNotes(false)).turns).toHaveLength(turns);
    expect(cpuMs()).toBeLessThan(5_000);
  });

  // Vector 3.
  test('as a string is a user turn, after the instructions', () => {
    expect(turnsOf('hi', { instructions: 'Be brief' })).toEqual([
      { role: 'system', name: null, parts: [textPart('Be brief')], path: 'instructions' },
      { role: 'user', name: null, parts: [textPart('hi')], path: 'input' },
    ]);
  });

  // Vector 2.
  test('messages need no type, and keep their places', () => {
    const turns = turnsOf([
      { role: 'user', content: 'a' },
      { role: 'developer', content: [{ type: 'input_text', text: 'b' }] },
      { type: 'message', role: 'assistant', content: 'c' },
    ]);
    expect(turns.map(({ role, path }) => [role, path])).toEqual([
      ['user', 'input.0'],
      ['developer', 'input.1'],
      ['assistant', 'input.2'],
    ]);
  });

  // Vector 10.
  test("consecutive items of the assistant are one turn, and each output is the user's", () => {
    const turns = turnsOf([
      { role: 'user', content: 'go' },
      { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'hm' }], encrypted_content: 'gw2.x' },
      {
        type: 'message',
        role: 'assistant',
        content: [
          { type: 'output_text', text: 'so' },
          { type: 'refusal', refusal: 'no' },
        ],
      },
      { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' },
      { type: 'custom_tool_call', call_id: 'c2', name: 'g', input: 'free' },
      { type: 'custom_tool_call_output', call_id: 'c2', output: 'two' },
      { type: 'function_call_output', call_id: 'c1', output: [{ type: 'input_text', text: 'one' }] },
    ]);
    expect(turns.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'user']);
    expect(turns[1]?.parts).toMatchObject([
      { kind: 'reasoning', text: '', signature: 'gw2.x' },
      { kind: 'text', text: 'so' },
      { kind: 'refusal', text: 'no' },
      { kind: 'tool_call', id: 'c1', name: 'f', tool: 'function', arguments: '{}' },
      { kind: 'tool_call', id: 'c2', name: 'g', tool: 'custom', arguments: 'free' },
    ]);
    expect(turns[2]?.parts).toMatchObject([{ kind: 'tool_result', call_id: 'c2', parts: [{ text: 'two' }] }]);
    expect(turns[3]?.parts).toMatchObject([{ kind: 'tool_result', call_id: 'c1', parts: [{ text: 'one' }] }]);
  });

  test('has images, files and sound', () => {
    const [turn] = turnsOf([
      {
        role: 'user',
        content: [
          { type: 'input_image', image_url: 'data:image/png;base64,AAAA', detail: 'low' },
          { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,AAAA' },
          { type: 'input_file', file_url: 'https://a.example/b.pdf' },
          { type: 'input_audio', input_audio: { data: 'AAAA', format: 'mp3' } },
        ],
      },
    ]);
    expect(turn?.parts).toMatchObject([
      { kind: 'image', source: { kind: 'base64', media_type: 'image/png' }, detail: 'low' },
      { kind: 'document', title: 'a.pdf', source: { media_type: 'application/pdf' } },
      { kind: 'document', source: { kind: 'url', url: 'https://a.example/b.pdf' } },
      { kind: 'audio', source: { media_type: 'audio/mpeg' } },
    ]);
  });

  // Vectors 12 to 15.
  test('reasoning of others is dropped and named, and unnamed if it is empty', () => {
    const items = (reasoning: object) =>
      parse({
        input: [
          { type: 'reasoning', ...reasoning },
          { role: 'assistant', content: 'a' },
        ],
      });
    for (const [reasoning, dropped] of [
      [{ id: 'rs_1', summary: [], encrypted_content: 'foreign' }, ['input[].reasoning']],
      [{ summary: [{ type: 'summary_text', text: 'a' }] }, []],
      [{ summary: [] }, []],
      [{}, []],
    ] as const) {
      const found = items(reasoning);
      expect([found.dropped, found.request.turns.map(({ parts }) => parts)]).toEqual([dropped, [[textPart('a')]]]);
    }
  });

  test('content that the gateway sealed is kept for the plan, which opens it', () => {
    const input = [
      { type: 'compaction', encrypted_content: 'gw2.x' },
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'shown' }], encrypted_content: 'gw2.y' },
    ];
    const { dropped, request } = parse({ input });
    expect([dropped, request.turns]).toMatchObject([
      [],
      [
        { role: 'developer', parts: [summaryPart('gw2.x')], path: 'input.0' },
        { role: 'assistant', parts: [{ kind: 'reasoning', text: '', signature: 'gw2.y' }] },
      ],
    ]);
  });

  // Vector 37.
  test('a compaction of others is refused with the code that clients know', () => {
    expect(() => parse({ input: [{ type: 'compaction', encrypted_content: 'x' }] })).toThrow(
      expect.objectContaining({ details: { param: 'input.0', code: 'invalid_encrypted_content' } }),
    );
  });

  test('a trigger at the end asks for the summary of the conversation', () => {
    const item = { role: 'user', content: 'a' };
    const asking = parse({ input: [item, { type: 'compaction_trigger' }], text: { format: { type: 'json_object' } } });
    expect(asking.request).toMatchObject({ summarizes: true, output_format: null });
    expect(asking.request.turns).toHaveLength(2);
    expect(parse({ input: [item] }).request.summarizes).toBeUndefined();
  });

  test('items of tools that a provider ran are dropped', () => {
    const { dropped, request } = parse({
      input: [
        { type: 'web_search_call', id: 'ws_1' },
        { role: 'user', content: 'a' },
      ],
    });
    expect([dropped, request.turns.length]).toEqual([['input[].web_search_call'], 1]);
  });

  // Vector 40.
  test.each([
    [[{ role: 'user', content: 'a' }, { type: 'foo' }], 'input.1.type'],
    [[{ type: 'compaction', encrypted_content: 'x' }], 'input.0'],
    [[{ type: 'compaction_trigger' }, { role: 'user', content: 'a' }], 'input.0'],
    [[{ role: 'critic', content: 'a' }], 'input.0.role'],
    [[{ role: 'user' }], 'input.0.content'],
    [[{ role: 'user', content: [{ type: 'new' }] }], 'input.0.content.0.type'],
    [[{ role: 'user', content: [{ type: 'input_image', image_url: 'ftp://a' }] }], 'input.0.content.0.image_url'],
    [[{ type: 'function_call', name: 'f', arguments: '{}' }], 'input.0.call_id'],
    [[{ type: 'function_call_output', call_id: '', output: '' }], 'input.0.call_id'],
  ])('%j is refused at %p', (input, path) => {
    expect(refusal({ input })).toBe(path);
  });
});

describe('options', () => {
  test('become those of any format', () => {
    const { request, dropped } = parse({
      stream: true,
      max_output_tokens: 50,
      temperature: 0.5,
      top_p: 0.9,
      parallel_tool_calls: false,
      reasoning: { effort: 'low', summary: 'auto' },
      text: { verbosity: 'high', format: { type: 'json_schema', name: 'n', schema: { type: 'object' }, strict: true } },
      safety_identifier: 'u1',
      user: 'u2',
      service_tier: 'flex',
    });
    expect(request).toMatchObject({
      stream: true,
      outputTokensMax: 50,
      temperature: 0.5,
      top_p: 0.9,
      parallel_tool_calls: false,
      reasoning: { mode: null, effort: 'low' },
      verbosity: 'high',
      output_format: { kind: 'json_schema', name: 'n', schema: '{"type":"object"}', strict: true },
      end_user: 'u1',
      service_tier: 'flex',
      named: { output_limit: 'max_output_tokens', output_format: 'text.format', reasoning: 'reasoning.effort' },
    });
    expect(dropped).toEqual(['user']);
  });

  test('of reasoning may be off, and the last update of the configuration holds', () => {
    expect(parse({ reasoning: { effort: 'none' } }).request.reasoning).toMatchObject({ mode: 'off' });
    expect(parse({ reasoning: { summary: 'auto' } }).request.reasoning).toBeNull();
    // Vector 38.
    const input = [
      { type: 'configuration_update', reasoning: { effort: 'medium' } },
      { role: 'user', content: 'a' },
      { type: 'configuration_update', reasoning: { effort: 'high' } },
      { type: 'configuration_update', text: {} },
    ];
    expect(parse({ input, reasoning: { effort: 'low' } }).request.reasoning).toMatchObject({ effort: 'high' });
    expect(refusal({ reasoning: { effort: 'enormous' } })).toBe('reasoning.effort');
  });

  test('that mean nothing elsewhere are named, and void ones are not', () => {
    const { dropped } = parse({
      metadata: { a: 'b' },
      moderation: { model: 'm' },
      truncation: 'auto',
      client_metadata: { a: 1 },
      new_member: 1,
      include: ['web_search_call.results'],
    });
    expect(dropped).toEqual(['metadata', 'moderation', 'truncation', 'client_metadata', 'new_member', 'include']);
    expect(
      parse({
        metadata: {},
        truncation: 'disabled',
        store: true,
        include: ['reasoning.encrypted_content'],
        stream_options: { include_obfuscation: false },
        top_logprobs: 0,
      }).dropped,
    ).toEqual([]);
  });

  test.each([
    [{ top_logprobs: 3 }, 'top_logprobs'],
    [{ moderation: { model: 'm', policy: { input: { mode: 'block' } } } }, 'moderation'],
    [{ text: { format: { type: 'xml' } } }, 'text.format.type'],
    [{ text: { format: { type: 'json_schema', name: 'n' } } }, 'text.format.schema'],
  ])('%j is refused at %p', (members, path) => {
    expect(refusal(members)).toBe(path);
  });
});

describe('tools', () => {
  test('are functions and free-text tools, flat', () => {
    const { request } = parse({
      tools: [
        { type: 'function', name: 'f', description: 'd', parameters: { type: 'object' }, strict: false },
        { type: 'custom', name: 'g', format: { type: 'grammar', syntax: 'lark', definition: 'start: "a"' } },
        { type: 'custom', name: 'h', format: { type: 'text' } },
        { type: 'computer_use_preview' },
      ],
      tool_choice: {
        type: 'allowed_tools',
        mode: 'required',
        tools: [
          { type: 'function', name: 'f' },
          { type: 'custom', name: 'g' },
        ],
      },
    });
    expect(request.tools).toMatchObject([
      { kind: 'function', name: 'f', parameters: '{"type":"object"}', strict: false },
      { kind: 'custom', name: 'g', grammar: null, description: 'The input must follow this lark grammar:\nstart: "a"' },
      { kind: 'custom', name: 'h', grammar: null },
      { kind: 'opaque', type: 'computer_use_preview' },
    ]);
    expect(request.tool_choice).toEqual({ kind: 'allowed', mode: 'required', names: ['f', 'g'] });
  });

  // Vector 4, as far as it goes: Codex offers these with every request.
  test('that Codex always offers become functions, or are dropped by name', () => {
    const tools = [
      { type: 'web_search', external_web_access: true },
      { type: 'namespace', name: 'agents', tools: [{ type: 'function', name: 'spawn' }] },
      { type: 'tool_search', execution: 'client', parameters: { type: 'object' } },
      { type: 'tool_search' },
    ];
    const found = { type: 'function', name: 'found', defer_loading: true };
    const input = [
      { role: 'user', content: 'a' },
      { type: 'function_call', call_id: 'c1', namespace: 'agents', name: 'spawn', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c1', output: 'x' },
      { type: 'tool_search_call', call_id: 'c2', execution: 'client', arguments: { query: 'q' } },
      { type: 'tool_search_output', call_id: 'c2', tools: [found, found] },
    ];
    const { request, dropped } = parse({ tools, input });
    expect(request.tools.map(({ name }) => name)).toEqual(['agents__spawn', 'tool_search', 'found']);
    expect(dropped).toEqual(['tools.web_search', 'tools.tool_search']);
    expect(request.callForms).toEqual(
      new Map([
        ['agents__spawn', { kind: 'namespaced', namespace: 'agents', name: 'spawn' }],
        ['tool_search', { kind: 'typed', type: 'tool_search' }],
      ]),
    );
    expect(request.turns.flatMap(({ parts }) => parts)).toMatchObject([
      {},
      { kind: 'tool_call', id: 'c1', name: 'agents__spawn' },
      {},
      { kind: 'tool_call', id: 'c2', name: 'tool_search', arguments: '{"query":"q"}' },
      { kind: 'tool_result', call_id: 'c2', parts: [{ text: 'Found, and callable from now on: found, found' }] },
    ]);
  });

  test('that clients run by themselves are functions, and their calls and outputs are history', () => {
    const { request, dropped } = parse({
      tools: [
        { type: 'local_shell' },
        { type: 'shell', environment: { type: 'local' } },
        { type: 'apply_patch' },
        { type: 'shell', environment: { type: 'container_auto' } },
      ],
      tool_choice: { type: 'apply_patch' },
      input: [
        { role: 'user', content: 'a' },
        { type: 'local_shell_call', call_id: 'c1', action: { type: 'exec', command: ['ls'], env: {} } },
        { type: 'local_shell_call_output', id: 'c1', output: 'a.txt' },
        { type: 'shell_call', call_id: 'c2', action: { commands: ['ls'] }, status: 'completed' },
        {
          type: 'shell_call_output',
          call_id: 'c2',
          output: [{ stdout: 'a', outcome: { type: 'exit', exit_code: 0 } }],
        },
        { type: 'apply_patch_call', call_id: 'c3', operation: { type: 'delete_file', path: 'a' } },
        { type: 'apply_patch_call_output', call_id: 'c3', status: 'failed', output: 'no such file' },
        { type: 'apply_patch_call', call_id: 'c4', operation: { type: 'delete_file', path: 'b' } },
        { type: 'apply_patch_call_output', call_id: 'c4', status: 'completed' },
      ],
    });
    expect(dropped).toEqual([]);
    expect(request.tools).toMatchObject([
      { kind: 'function', name: 'local_shell' },
      { kind: 'function', name: 'shell' },
      { kind: 'function', name: 'apply_patch' },
      { kind: 'opaque', type: 'shell' },
    ]);
    for (const tool of request.tools)
      if (tool.kind === 'function') expect(JSON.parse(tool.parameters ?? '')).toMatchObject({ type: 'object' });
    expect(request.tool_choice).toEqual({ kind: 'tool', name: 'apply_patch' });
    const parts = request.turns.flatMap(({ parts }) => parts).slice(1);
    expect(parts).toMatchObject([
      { kind: 'tool_call', id: 'c1', name: 'local_shell', arguments: '{"type":"exec","command":["ls"],"env":{}}' },
      { kind: 'tool_result', call_id: 'c1', parts: [{ text: 'a.txt' }] },
      { kind: 'tool_call', id: 'c2', name: 'shell', arguments: '{"commands":["ls"]}' },
      {
        kind: 'tool_result',
        call_id: 'c2',
        parts: [{ text: '[{"stdout":"a","outcome":{"type":"exit","exit_code":0}}]' }],
      },
      { kind: 'tool_call', id: 'c3', name: 'apply_patch' },
      { kind: 'tool_result', call_id: 'c3', parts: [{ text: 'failed\nno such file' }] },
      {},
      { kind: 'tool_result', call_id: 'c4', parts: [{ text: 'completed' }] },
    ]);
  });

  test.each([
    [{ tool_choice: 'any' }, 'tool_choice'],
    [{ tool_choice: { type: 'web_search_preview' } }, 'tool_choice.type'],
    [{ tool_choice: { type: 'function' } }, 'tool_choice.name'],
    [{ tools: [{ name: 'f' }] }, 'tools.0.type'],
    [{ tools: [{ type: 'function' }] }, 'tools.0.name'],
    [{ tools: [{ type: 'custom', name: 'g', format: { type: 'grammar' } }] }, 'tools.0.format.definition'],
  ])('%j is refused at %p', (members, path) => {
    expect(refusal(members)).toBe(path);
  });
});

test.skipIf(RECORDED_REQUESTS === null)(
  'recorded requests that pass the check are read, or refused with a path (needs the recordings)',
  () => {
    const refused = new Map<string, number>();
    let read = 0;
    for (const { body } of RECORDED_REQUESTS ?? []) {
      const outline = outlineOf(body);
      try {
        if (responsesClient.checkRequest(outline, CONTEXT).stored !== undefined) continue;
      } catch {
        continue;
      }
      try {
        const { turns } = parseRequest(outline, startTranslationNotes(false));
        expect(turns.length).toBeGreaterThan(0);
        read += 1;
      } catch (error) {
        if (!(error instanceof CallFailure)) throw error;
        const path = (error.details.param ?? '').replaceAll(/\.\d+/g, '[]');
        refused.set(path, (refused.get(path) ?? 0) + 1);
      }
    }
    expect(read).toBeGreaterThan(400);
    // One in the background, a compaction, and a policy that blocks.
    expect([...refused.keys()].sort()).toEqual(['background', 'input[]', 'moderation']);
  },
);
