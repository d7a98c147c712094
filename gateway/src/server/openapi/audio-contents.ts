/** Lists the contents of requests and answers of the audio formats. */
import { refTo, TEXT } from './schema.ts';

export const FORM = ['multipart/form-data', 'TranscriptionRequest'] as const;

/** What was said, in the forms that `response_format` and `stream` choose. */
export const WRITTEN = {
  'application/json': { schema: refTo('Transcription') },
  'text/plain': { schema: TEXT },
  'text/event-stream': { schema: TEXT },
};

export const SOUND = {
  'audio/*': { schema: { ...TEXT, contentMediaType: 'application/octet-stream' } },
  'text/event-stream': { schema: TEXT },
};
