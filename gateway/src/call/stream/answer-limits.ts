/** Chooses the limits of the answers of a call: images, also within Responses, are larger than texts. Contract, 10.14. */
import type { Limits } from '../../config/limits.ts';
import type { Arrived } from '../call.ts';

type AnswerLimits = Pick<Limits, 'errorBodyBytesMax' | 'responseBytesMax' | 'sseRecordBytesMax' | 'slowReaderBytesMax'>;

const IMAGE_RECORD_BYTES = 64 * 1024 * 1024;
const IMAGE_ANSWER_BYTES = 512 * 1024 * 1024;

const raised = new WeakMap<Limits, AnswerLimits>();

export function answerLimits({ protocol, settings }: Pick<Arrived, 'protocol' | 'settings'>): AnswerLimits {
  const { limits } = settings.config;
  if (protocol.answersImages !== true) return limits;
  let found = raised.get(limits);
  if (found === undefined) {
    found = {
      ...limits,
      responseBytesMax: Math.max(limits.responseBytesMax, IMAGE_ANSWER_BYTES),
      sseRecordBytesMax: Math.max(limits.sseRecordBytesMax, IMAGE_RECORD_BYTES),
    };
    raised.set(limits, found);
  }
  return found;
}
