/** Resolves `capabilities` of a model in the file, and checks the rules between its members. */
import type { CapabilityShape } from './capability-schema.ts';
import { type Capabilities, NO_CAPABILITIES } from './config.ts';
import type { Report } from './file/config-problem.ts';

/** Reports contradictions. */
export function resolveCapabilities(shape: CapabilityShape | undefined, report: Report): Capabilities {
  if (shape === undefined) return NO_CAPABILITIES;
  const { reasoning_effort, thinking, output_limit, ...flags } = shape;
  for (const [name, list] of [
    ['reasoning_effort', reasoning_effort],
    ['thinking', thinking],
  ] as const) {
    const asks = list?.filter((word) => word !== 'none' && word !== 'disabled') ?? [];
    if (shape.reasoning !== 'false' || asks.length === 0) continue;
    report([name], {
      found: `${asks.join(', ')} beside reasoning: false`,
      expected: 'no such word for a model that does not reason',
      advice: `Remove ${name}, or write reasoning: true.`,
    });
  }
  const told = Object.fromEntries(Object.entries(flags).map(([name, word]) => [name, word === 'true']));
  return { ...told, reasoning_effort, thinking, output_limit };
}
