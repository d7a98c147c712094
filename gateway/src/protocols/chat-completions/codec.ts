/** Owns the registration of this format's translation: what reads and writes the canonical language, in one object. */
import type { Codec } from '../codec.ts';
import { parseAnswer } from './parse-answer.ts';
import { parseRequest } from './parse-request.ts';
import { startStreamParser } from './parse-stream.ts';
import { readError } from './read-error.ts';
import { renderAnswer } from './render-answer.ts';
import { renderRequest } from './render-request.ts';
import { startStreamRenderer } from './render-stream.ts';

export const codec: Codec = {
  parseRequest,
  renderRequest,
  startStreamParser,
  parseAnswer,
  startStreamRenderer,
  renderAnswer,
  readError,
};
