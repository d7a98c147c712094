/** Renders a request for Bedrock's CountTokens, and reads the count. Source: provider reference C.5. */
import { RawJson, writeJson } from '../../../wire/json-writer.ts';
import { memberText } from '../../exact-json.ts';
import { asCount, parseObject } from '../../json.ts';

const COUNTED = ['messages', 'system', 'toolConfig', 'additionalModelRequestFields'];

/** `json` is a rendered request. */
export function renderCount(json: string): string {
  const members = COUNTED.flatMap((member): ReadonlyArray<readonly [string, RawJson]> => {
    const text = memberText(json, member);
    return text === null ? [] : [[member, new RawJson(text)]];
  });
  return writeJson({ input: { converse: Object.fromEntries(members) } });
}

/** Null: it is no count. */
export function readCount(body: Buffer): number | null {
  const tokens = asCount(parseObject(body.toString())?.inputTokens);
  return typeof tokens === 'number' ? tokens : null;
}
