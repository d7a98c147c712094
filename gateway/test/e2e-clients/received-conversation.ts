/** Normalizes a conversation that upstream received, whatever its format, so that tests can compare it. */
import { z } from 'zod';
import type { ClientFormat } from '../fake-upstream/protocol.ts';

/** A text, a tool call, or a tool result. */
export type ReceivedPart =
  | { readonly role: string; readonly text: string }
  | { readonly call: string; readonly name: string; readonly input: unknown }
  | { readonly result: string; readonly text: string };

const words = z.union([z.string(), z.array(z.object({ text: z.string().default('') }))]).nullish();
const chatBody = z.object({
  messages: z.array(
    z.object({
      role: z.string(),
      content: words,
      tool_call_id: z.string().optional(),
      tool_calls: z
        .array(z.object({ id: z.string(), function: z.object({ name: z.string(), arguments: z.string() }) }))
        .default([]),
    }),
  ),
});
const block = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('thinking') }),
  z.object({ type: z.literal('tool_use'), id: z.string(), name: z.string(), input: z.unknown() }),
  z.object({ type: z.literal('tool_result'), tool_use_id: z.string(), content: words }),
]);
const messagesBody = z.object({
  messages: z.array(z.object({ role: z.string(), content: z.union([z.string(), z.array(block)]) })),
});

const joined = (written: z.infer<typeof words>): string =>
  typeof written === 'string' ? written : (written ?? []).map(({ text }) => text).join('');

function receivedInChat(body: unknown): ReceivedPart[] {
  return chatBody.parse(body).messages.flatMap(({ role, content, tool_call_id, tool_calls }): ReceivedPart[] => {
    const text = joined(content);
    if (tool_call_id !== undefined) return [{ result: tool_call_id, text }];
    const calls = tool_calls.map((call): ReceivedPart => {
      const input: unknown = JSON.parse(call.function.arguments);
      return { call: call.id, name: call.function.name, input };
    });
    return text === '' ? calls : [{ role, text }, ...calls];
  });
}

function receivedInMessages(body: unknown): ReceivedPart[] {
  return messagesBody.parse(body).messages.flatMap(({ role, content }): ReceivedPart[] => {
    if (typeof content === 'string') return [{ role, text: content }];
    return content.flatMap((one): ReceivedPart[] => {
      if (one.type === 'text') return [{ role, text: one.text }];
      if (one.type === 'tool_use') return [{ call: one.id, name: one.name, input: one.input }];
      return one.type === 'tool_result' ? [{ result: one.tool_use_id, text: joined(one.content) }] : [];
    });
  });
}

const item = z.union([
  z.object({ type: z.literal('function_call'), call_id: z.string(), name: z.string(), arguments: z.string() }),
  z.object({ type: z.literal('function_call_output'), call_id: z.string(), output: words }),
  z.object({ type: z.literal('reasoning') }),
  z.object({ type: z.literal('message').default('message'), role: z.string(), content: words }),
]);
const responsesBody = z.object({ input: z.union([z.string(), z.array(item)]) });

function receivedInResponses(body: unknown): ReceivedPart[] {
  const { input } = responsesBody.parse(body);
  if (typeof input === 'string') return [{ role: 'user', text: input }];
  return input.flatMap((one): ReceivedPart[] => {
    if (one.type === 'message') return [{ role: one.role, text: joined(one.content) }];
    if (one.type === 'function_call') return [{ call: one.call_id, name: one.name, input: JSON.parse(one.arguments) }];
    return one.type === 'reasoning' ? [] : [{ result: one.call_id, text: joined(one.output) }];
  });
}

const RECEIVED = {
  'chat-completions': receivedInChat,
  messages: receivedInMessages,
  responses: receivedInResponses,
} satisfies Readonly<Record<ClientFormat, unknown>>;

/** Returns the turns of a request body, without reasoning and the instructions of messages. Throws if it has none. */
export function receivedIn(format: ClientFormat, body: unknown): ReceivedPart[] {
  return RECEIVED[format](body);
}
