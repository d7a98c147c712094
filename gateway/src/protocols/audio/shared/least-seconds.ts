/**
 * Tells how long the sound of a transcription lasts at least, by its text: the headers of the file are the caller's, and may
 * state less than the provider hears and bills.
 */

/** No one speaks faster for long, and Whisper writes at most 224 tokens for each window of 30 s. */
const CHARS_PER_SECOND_MAX = 60;
/** Whisper's last time may be behind the end of the sound, within its window. */
const WINDOW_SECONDS = 30;
const ARROW = '-->';
/** The end of a cue, in SRT or WebVTT. */
const CUE_END = /^[ \t]*(?:(\d{1,3}):)?(\d\d):(\d\d)[.,]\d{3}/;
const CUE_END_CHARS = 20;

/** Whole seconds; 0: the text tells none. */
export function leastSecondsOf(text: string): number {
  const arrow = text.lastIndexOf(ARROW);
  const from = arrow + ARROW.length;
  const times = arrow === -1 ? null : CUE_END.exec(text.slice(from, from + CUE_END_CHARS));
  if (times === null) return Math.floor(text.length / CHARS_PER_SECOND_MAX);
  const [, hours = 0, minutes, seconds] = times;
  return Math.max(0, Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds) - WINDOW_SECONDS);
}
