/** Sets up OpenAI's Python client for the Responses API, plain and with its stream helper. */
import type { ClientDriver } from '../e2e-clients/client-driver.ts';
import { pythonDriver } from './python-driver.ts';

export const drivers: Readonly<Record<'responses', ClientDriver>> = {
  responses: pythonDriver('openai_sdk.py', {
    finished: 'completed',
    isOverflow: ({ type, code }) => type === 'BadRequestError' && code === 'context_length_exceeded',
  }),
};
