/** Assembles the half of the audio formats that clients use: speech as JSON, transcriptions and translations as forms. */
import type { DirectClient } from '../../client-protocol.ts';
import { DIRECT_CLIENT } from '../../openai/direct-format.ts';
import { checkForm } from './check-form.ts';
import { checkSpeech } from './check-speech.ts';

const AUDIO = { ...DIRECT_CLIENT, name: 'audio', isReplayable: false } as const;

/** Speech. */
export const audioClient: DirectClient = {
  ...AUDIO,
  endpoints: [{ path: '/audio/speech', countOnly: false }],
  checkRequest: checkSpeech,
};

const takeForms = (below: string): DirectClient => ({
  ...AUDIO,
  endpoints: [{ path: `/audio${below}`, countOnly: false }],
  takesForms: 'always',
  checkRequest: (outline, context) => checkForm(outline, context, below),
});

export const transcriptionClient = takeForms('/transcriptions');
export const translationClient = takeForms('/translations');
