/** Owns the reading of what may hold only text in a messages request: `system`, and turns of the role system. */
import { type Path, refuse } from '../body-problem.ts';
import { checkObject, checkRequiredWord, checkString } from '../check-member.ts';

/** Refuses anything but a string or an array of text blocks. */
export function parseTextBlocks(value: unknown, path: Path): void {
  if (typeof value === 'string') return;
  if (!Array.isArray(value)) refuse(path, value, 'a string or an array of text blocks');
  value.forEach((entry: unknown, at) => {
    const block = checkObject(entry, [...path, at]);
    checkRequiredWord(block.type, [...path, at, 'type'], ['text']);
    checkString(block.text, [...path, at, 'text']);
  });
}
