/** Tests that the agent's request is what it claims: its size, its parts, and the same bytes each time. */
import { expect, test } from 'bun:test';
import { renderAgentRequest } from './agent-request.ts';

test('the agent request is 200 KB of valid JSON with 20 tools and 60 messages, the same in every run', () => {
  const text = renderAgentRequest();
  const request = JSON.parse(text);
  expect(Buffer.byteLength(text)).toBeGreaterThan(190_000);
  expect(Buffer.byteLength(text)).toBeLessThan(210_000);
  expect(request.tools).toHaveLength(20);
  expect(request.messages).toHaveLength(60);
  expect(renderAgentRequest()).toBe(text);
});

test('the agent request is full of what makes JSON escape, and each tool result answers a call', () => {
  const text = renderAgentRequest();
  for (const mark of ['\\n', '\\t', '\\"', '\\\\']) expect(text.split(mark).length).toBeGreaterThan(200);
  expect(text).toContain('日本語');
  const messages: { role: string; tool_call_id?: string; tool_calls?: { id: string }[] }[] = JSON.parse(text).messages;
  const called = messages.flatMap((message) => message.tool_calls ?? []).map((call) => call.id);
  expect(messages.flatMap((message) => message.tool_call_id ?? [])).toEqual(called);
  expect(new Set(called).size).toBe(29);
});
