/** Sets up Google's Python client for Gemini, plain, streamed and as a chat. */
import type { ClientDriver } from '../e2e-clients/client-driver.ts';
import { pythonDriver } from './python-driver.ts';

export const drivers: Readonly<Record<'genai', ClientDriver>> = {
  genai: pythonDriver('google_genai_sdk.py', {
    finished: 'STOP',
    isOverflow: ({ type, code, message }) =>
      type === 'ClientError' && code === 400 && /maximum number of tokens/.test(message),
  }),
};
