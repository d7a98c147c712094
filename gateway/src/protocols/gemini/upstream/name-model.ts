/** Names the model in a passed body that names one beside its path: Google expects the same name in both. */
import { type JsonOutline, member } from '../../../wire/json-node.ts';
import type { JsonEdit } from '../../../wire/json-splice.ts';

/** A count may be asked for a whole request. */
const WHOLE = ['generateContentRequest', 'generate_content_request'];

export function nameModel({ root }: JsonOutline, model: string): readonly JsonEdit[] {
  const json = JSON.stringify(model.includes('/') ? model : `models/${model}`);
  const edits: JsonEdit[] = member(root, 'model') === undefined ? [] : [{ set: ['model'], json }];
  for (const name of WHOLE) {
    const whole = member(root, name);
    if (whole?.kind === 'object') edits.push({ set: [name, 'model'], json });
  }
  return edits;
}
