/** Owns whether the answer to a call may cost tokens that do not show, which nobody can meter as they come. */
import { member } from '../wire/json-node.ts';
import type { RoutedCall } from './plan-call.ts';

/** The members, of either format, by which a request asks for reasoning. One that asks for none names them too, and is taken for one that may. */
const REASONING_MEMBERS = ['thinking', 'reasoning_effort', 'reasoning'] as const;

export function mayHideReasoning({ route, outline }: RoutedCall): boolean {
  if (route.hiddenReasoning !== 'asked') return route.hiddenReasoning === 'always';
  return REASONING_MEMBERS.some((name) => member(outline.root, name) !== undefined);
}
