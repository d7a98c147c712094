/**
 * Serializes a batch of operations for the writer thread: one line of JSON, then one line for each JSON text that ends
 * an operation.
 */
import type { Operation } from './ledger-operations.ts';

/**
 * Renders the operations as text for `parseOperations`. The JSON texts travel separately: nested JSON would be escaped
 * here and unescaped there, although the writer only passes it on. JSON contains no line breaks.
 */
export function renderOperations(operations: readonly Operation[]): string {
  let texts = '';
  const heads = operations.map((operation) => {
    if (!endsWithText(operation)) return operation;
    texts += `\n${operation.at(-1)}`;
    return operation.slice(0, -1);
  });
  return JSON.stringify(heads) + texts;
}

/** Parses a text made by `renderOperations`. */
export function parseOperations(batch: string): Operation[] {
  const [heads = '[]', ...texts] = batch.split('\n');
  const operations = JSON.parse(heads) as [Operation[0], ...unknown[]][];
  let next = 0;
  for (const operation of operations) {
    if (endsWithText(operation)) operation.push(texts[next++]);
  }
  return operations as unknown[] as Operation[];
}

function endsWithText([tag]: readonly [Operation[0], ...unknown[]]): boolean {
  return tag === 'h' || tag === 's' || tag === 'r' || tag === 'c';
}
