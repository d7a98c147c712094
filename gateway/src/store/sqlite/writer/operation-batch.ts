/**
 * Owns the text in which a batch of operations crosses to the writer thread: one line of JSON, then a line for each JSON
 * text that an operation ends with. Knows no SQL.
 */
import type { Operation } from './ledger-operations.ts';

/**
 * The operations as text, for `parseOperations`. JSON within JSON would be escaped here and unescaped there, and the writer
 * only hands these texts on; JSON itself has no line breaks.
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

/** The operations of a text that `renderOperations` made. */
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
