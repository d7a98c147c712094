/** Owns seeing the steps of the grammar in chunks that somebody else wrote, to watch a stream that is passed on. Judges none. */
import { asArray, asObject, asText, type JsonObject } from '../json.ts';
import type { ChatGrammar, ChatStep } from './stream-grammar.ts';

const DELTA_TEXTS = ['content', 'reasoning_content', 'reasoning', 'refusal', 'annotations'];

/**
 * What a chunk does in its first choice, given what came before it. Hosts repeat the role, or the id and name of a call, on
 * every chunk; clients take that, so it is no step.
 */
export function readSteps(chunk: JsonObject, before: ChatGrammar): ChatStep[] {
  const choices = asArray(chunk.choices);
  if (choices.length === 0) return asObject(chunk.usage) === null ? [] : [{ kind: 'usage' }];
  const steps: ChatStep[] = [];
  for (const choice of choices) {
    const found = asObject(choice);
    if (found === null || (typeof found.index === 'number' && found.index !== 0)) continue;
    const delta = asObject(found.delta) ?? {};
    if (asText(delta.role) !== null && !before.begun) steps.push({ kind: 'role' });
    if (DELTA_TEXTS.some((member) => holdsSomething(delta[member]))) steps.push({ kind: 'content' });
    steps.push(...toolSteps(delta.tool_calls, before.toolCalls));
    if (asText(found.finish_reason) !== null) steps.push({ kind: 'finish' });
    break;
  }
  return steps;
}

function holdsSomething(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : asText(value) !== null;
}

function toolSteps(fragments: unknown, begun: number): ChatStep[] {
  const steps: ChatStep[] = [];
  let next = begun;
  for (const fragment of asArray(fragments)) {
    const index = asObject(fragment)?.index;
    if (typeof index !== 'number') continue;
    const starts = index >= next;
    if (starts) next = index + 1;
    steps.push({ kind: starts ? 'tool_start' : 'tool_fragment', index });
  }
  return steps;
}
