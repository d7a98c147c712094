/**
 * Checks requests like a strict chat completions provider: only known members, every tool call answered. For requests
 * that the gateway wrote; a client's may have more members.
 */
import { z } from 'zod';

const text = z.strictObject({ type: z.literal('text'), text: z.string().min(1) });
const content = z.union([z.string(), z.array(text).min(1)]);
const image = z.strictObject({
  type: z.literal('image_url'),
  image_url: z.strictObject({ url: z.string().startsWith('data:image/png;base64,'), detail: z.string().optional() }),
});
const toolName = z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/);
const toolCall = z.strictObject({
  id: z.string().min(1).max(40),
  type: z.literal('function'),
  function: z.strictObject({ name: toolName, arguments: z.string().startsWith('{') }),
});
const message = z.discriminatedUnion('role', [
  z.strictObject({ role: z.enum(['system', 'developer']), content }),
  z.strictObject({ role: z.literal('user'), content: z.union([z.string(), z.array(z.union([text, image])).min(1)]) }),
  z.strictObject({
    role: z.literal('assistant'),
    content: content.nullish(),
    tool_calls: z.array(toolCall).min(1).optional(),
    reasoning_content: z.string().optional(),
  }),
  z.strictObject({ role: z.literal('tool'), tool_call_id: z.string(), content }),
]);
const schema = z.looseObject({ type: z.literal('object') });
const tool = z.strictObject({
  type: z.literal('function'),
  function: z.strictObject({
    name: toolName,
    description: z.string().optional(),
    parameters: schema.optional(),
    strict: z.boolean().optional(),
  }),
});
const request = z.strictObject({
  model: z.string(),
  messages: z.array(message).min(1),
  max_tokens: z.int().positive().optional(),
  max_completion_tokens: z.int().positive().optional(),
  temperature: z.number().optional(),
  top_p: z.number().optional(),
  stop: z.array(z.string()).max(4).optional(),
  tools: z.array(tool).min(1).optional(),
  tool_choice: z
    .union([
      z.enum(['none', 'auto', 'required']),
      z.strictObject({ type: z.literal('function'), function: z.strictObject({ name: toolName }) }),
    ])
    .optional(),
  parallel_tool_calls: z.boolean().optional(),
  response_format: z
    .strictObject({
      type: z.literal('json_schema'),
      json_schema: z.strictObject({ name: toolName, schema, strict: z.boolean().optional() }),
    })
    .optional(),
  reasoning_effort: z.string().optional(),
  safety_identifier: z.string().max(64).optional(),
  user: z.string().max(64).optional(),
  stream: z.boolean().optional(),
  stream_options: z.strictObject({ include_usage: z.boolean() }).optional(),
});

/** Throws with every invalid member if a strict provider would refuse the body. */
export function holdChatRequest(body: unknown): void {
  let open: string[] = [];
  for (const turn of request.parse(body).messages) {
    if (turn.role === 'tool') {
      if (!open.includes(turn.tool_call_id))
        throw new Error(`${turn.tool_call_id}: a result without its call before it`);
      open = open.filter((id) => id !== turn.tool_call_id);
    } else {
      if (open.length > 0) throw new Error(`${open.join(', ')}: calls without a result`);
      if (turn.role === 'assistant') open = (turn.tool_calls ?? []).map(({ id }) => id);
    }
  }
  if (open.length > 0) throw new Error(`${open.join(', ')}: calls without a result`);
}
