/**
 * Checks requests like a strict messages provider: only known members, results first in the turn after their calls,
 * only its own signatures. For requests that the gateway wrote; a client's may have more members.
 */
import { z } from 'zod';
import { SIGNATURE } from '../fake-upstream/answer/messages-answer.ts';

const cache_control = z.strictObject({ type: z.literal('ephemeral'), ttl: z.enum(['5m', '1h']).optional() }).optional();
const text = z.strictObject({ type: z.literal('text'), text: z.string().min(1), cache_control });
const toolName = z.string().regex(/^[a-zA-Z0-9_-]{1,128}$/);
const toolId = z.string().regex(/^[a-zA-Z0-9_-]+$/);
const toolUse = z.strictObject({
  type: z.literal('tool_use'),
  id: toolId,
  name: toolName,
  input: z.record(z.string(), z.unknown()),
  cache_control,
});
const image = z.strictObject({
  type: z.literal('image'),
  source: z.strictObject({ type: z.literal('base64'), media_type: z.literal('image/png'), data: z.string().min(1) }),
  cache_control,
});
const toolResult = z.strictObject({
  type: z.literal('tool_result'),
  tool_use_id: toolId,
  content: z.union([z.string(), z.array(z.union([text, image]))]).optional(),
  is_error: z.boolean().optional(),
  cache_control,
});
const thinking = z.strictObject({
  type: z.literal('thinking'),
  thinking: z.string(),
  signature: z.literal(SIGNATURE),
});
const turnOf = <Role extends string, Block extends z.ZodType>(role: Role, block: Block) =>
  z.strictObject({ role: z.literal(role), content: z.union([z.string().min(1), z.array(block).min(1)]) });
const message = z.union([
  turnOf('user', z.discriminatedUnion('type', [text, image, toolResult])),
  turnOf('assistant', z.discriminatedUnion('type', [text, toolUse, thinking])),
  turnOf('system', text),
]);
const schema = z.looseObject({ type: z.literal('object') });
const parallel = { disable_parallel_tool_use: z.boolean().optional() };
const request = z.strictObject({
  model: z.string(),
  max_tokens: z.int().positive(),
  messages: z.array(message).min(1),
  system: z.union([z.string(), z.array(text).min(1)]).optional(),
  temperature: z.number().max(1).optional(),
  top_p: z.number().optional(),
  stop_sequences: z.array(z.string().min(1)).optional(),
  tools: z
    .array(
      z.strictObject({
        type: z.literal('custom').optional(),
        name: toolName,
        description: z.string().optional(),
        input_schema: schema,
        strict: z.boolean().optional(),
        cache_control,
      }),
    )
    .min(1)
    .optional(),
  tool_choice: z
    .discriminatedUnion('type', [
      z.strictObject({ type: z.enum(['auto', 'any']), ...parallel }),
      z.strictObject({ type: z.literal('tool'), name: toolName, ...parallel }),
      z.strictObject({ type: z.literal('none') }),
    ])
    .optional(),
  thinking: z.looseObject({ type: z.enum(['enabled', 'adaptive', 'disabled', 'between_tools']) }).optional(),
  output_config: z
    .strictObject({
      effort: z.string().optional(),
      format: z.strictObject({ type: z.literal('json_schema'), schema }).optional(),
    })
    .optional(),
  metadata: z.strictObject({ user_id: z.string().nullish() }).optional(),
  service_tier: z.enum(['auto', 'standard_only']).optional(),
  stream: z.boolean().optional(),
});

type Block =
  | z.infer<typeof text>
  | z.infer<typeof image>
  | z.infer<typeof toolUse>
  | z.infer<typeof toolResult>
  | z.infer<typeof thinking>;

/** Throws with every invalid member if a strict provider would refuse the body. */
export function holdMessagesRequest(body: unknown): void {
  const { messages } = request.parse(body);
  if (messages[0]?.role !== 'user') throw new Error(`the first turn is ${messages[0]?.role}, expected user`);
  let open: string[] = [];
  for (const turn of messages) {
    const blocks: readonly Block[] = typeof turn.content === 'string' ? [] : turn.content;
    const results = blocks.flatMap((block) => (block.type === 'tool_result' ? [block.tool_use_id] : []));
    const first = blocks.slice(0, results.length).every(({ type }) => type === 'tool_result');
    if (!first) throw new Error('a tool_result stands behind something else in its turn');
    if (results.join() !== open.join())
      throw new Error(`results of [${results}], expected those of the calls [${open}]`);
    open = blocks.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []));
  }
  if (open.length > 0) throw new Error(`${open.join(', ')}: calls without a result`);
}
