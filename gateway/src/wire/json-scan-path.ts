/** Owns saying which value of a half-read text a scan is in, for messages. */

import { memberPath } from './json-problem.ts';
import * as State from './json-scan-state.ts';
import { stringText } from './json-text.ts';

/** The path of the value that is being read, as `messages[3].content`; of its container where a key or a comma is due. */
export function pathOf(state: State.ScanState): string {
  const depth = state.depth + (isInValue(state.expecting) ? 1 : 0);
  let path = '';
  for (let level = 1; level < depth; level++) path = addLevel(state, level * State.FRAME_INTS, path);
  return path;
}

function isInValue(expecting: number): boolean {
  return (
    expecting !== State.AWAIT_FIRST_KEY &&
    expecting !== State.AWAIT_KEY &&
    expecting !== State.AWAIT_SEPARATOR &&
    expecting !== State.IN_KEY
  );
}

function addLevel(state: State.ScanState, frame: number, path: string): string {
  const { frames, view } = state;
  if (frames[frame + State.FRAME_IS_OBJECT] === 0) return `${path}[${frames[frame + State.FRAME_COUNT]}]`;
  const keyStart = frames[frame + State.FRAME_KEY_START] as number;
  return memberPath(path, stringText(view.bytes, keyStart, frames[frame + State.FRAME_KEY_END] as number));
}
