/** Assembles the half of the audio formats that providers use. */
import { DIRECT_UPSTREAM } from '../../openai/direct-format.ts';
import type { DirectUpstream, PassThrough } from '../../upstream-protocol.ts';
import { readAnswer, readText } from '../shared/read-answer.ts';
import { AudioEventObserver } from '../stream/observe-events.ts';
import { SoundObserver } from '../stream/observe-sound.ts';
import { streamOfAnswer } from '../stream/stream-of-answer.ts';

const PASS_THROUGH: PassThrough = {
  forwardHeaders: () => [],
  stripReasoning: null,
  startObserver: ({ binary, sound }) =>
    binary === undefined ? new AudioEventObserver(sound) : new SoundObserver(binary),
  startFold: null,
};

export const audioUpstream: DirectUpstream = {
  ...DIRECT_UPSTREAM,
  name: 'audio',
  passThrough: PASS_THROUGH,
  readAnswer,
  readText,
  streamOfAnswer,
};
