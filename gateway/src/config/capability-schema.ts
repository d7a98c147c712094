/**
 * Defines the schema of `capabilities` in the configuration file: what a model accepts. Rules between members are in
 * resolve-capabilities.ts.
 */
import { z } from 'zod';
import { choice } from './file/scalar-schema.ts';

const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
const THINKING = ['adaptive', 'enabled', 'between_tools', 'disabled'] as const;

const flag = (description: string) => choice(['true', 'false']).meta({ description }).optional();

/** The shape of `capabilities` of a model. */
export const capabilitySchema = z.strictObject({
  reasoning: flag('It reasons. `false`: no member of reasoning is sent to it.'),
  reasoning_effort: z
    .array(choice(EFFORTS))
    .meta({ description: 'The efforts that it takes; the nearest is sent. An empty list: it takes none.' })
    .optional(),
  thinking: z
    .array(choice(THINKING))
    .meta({ description: 'The values of `thinking.type` that it takes, at a host of the messages format.' })
    .optional(),
  sampling: flag('It takes `temperature` and `top_p`.'),
  temperature_with_top_p: flag('It takes `temperature` and `top_p` together, at a host of the messages format.'),
  tools: flag('It takes tools.'),
  forced_tool_choice: flag('It takes a tool choice that forces a call, at a host of the messages format.'),
  parallel_tool_calls: flag('It takes `parallel_tool_calls`.'),
  structured_output: flag('It answers to a JSON Schema.'),
  strict_schemas: flag('It takes `strict` in tools and formats.'),
  image: flag('It takes images.'),
  pdf: flag('It takes PDF files.'),
  audio: flag('It takes audio.'),
  output_limit: choice(['max_tokens', 'max_completion_tokens'])
    .meta({ description: 'The member by which it takes the limit of output tokens, at a host of chat completions.' })
    .optional(),
});

export type CapabilityShape = z.output<typeof capabilitySchema>;
