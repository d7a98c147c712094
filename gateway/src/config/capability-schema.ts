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
  reasoning: flag('Reasons. `false`: no reasoning members are sent.'),
  reasoning_effort: z
    .array(choice(EFFORTS))
    .meta({ description: 'Supported efforts; the nearest one is sent. An empty list: none.' })
    .optional(),
  thinking: z
    .array(choice(THINKING))
    .meta({ description: 'Supported values of `thinking.type`, at a provider of the messages format.' })
    .optional(),
  sampling: flag('Supports `temperature` and `top_p`.'),
  temperature_with_top_p: flag('Supports `temperature` and `top_p` together, at a provider of the messages format.'),
  tools: flag('Supports tools.'),
  forced_tool_choice: flag('Supports a tool choice that forces a call, at a provider of the messages format.'),
  parallel_tool_calls: flag('Supports `parallel_tool_calls`.'),
  structured_output: flag('Supports output by a JSON Schema.'),
  strict_schemas: flag('Supports `strict` in tools and formats.'),
  image: flag('Supports images.'),
  pdf: flag('Supports PDF files.'),
  audio: flag('Supports audio.'),
  output_limit: choice(['max_tokens', 'max_completion_tokens'])
    .meta({ description: 'The member for the maximum of output tokens, at a provider of the chat format.' })
    .optional(),
});

export type CapabilityShape = z.output<typeof capabilitySchema>;
