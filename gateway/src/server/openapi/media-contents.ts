/** Describes the requests and answers of the formats of sound and images. */
import { COUNT, each, listOf, type OpenapiPart, object, oneOf, orNull, refTo, TEXT } from './schema.ts';

const JSON_TYPE = 'application/json';
const FORM_TYPE = 'multipart/form-data';

/** The content of a request. */
const requestOf = (type: string, schema: string) => ({ [type]: { schema: refTo(schema) } });

export const SPEECH = requestOf(JSON_TYPE, 'SpeechRequest');
export const FORM = requestOf(FORM_TYPE, 'TranscriptionRequest');
export const DRAWING = requestOf(JSON_TYPE, 'ImageRequest');
export const VARIATION = requestOf(FORM_TYPE, 'ImageForm');
export const EDIT = { ...VARIATION, ...requestOf(JSON_TYPE, 'ImageEditRequest') };

/** The transcript, in the forms that `response_format` and `stream` choose. */
export const WRITTEN: OpenapiPart = {
  [JSON_TYPE]: { schema: refTo('Transcription') },
  'text/plain': { schema: TEXT },
  'text/event-stream': { schema: TEXT },
};

export const SOUND: OpenapiPart = {
  'audio/*': { schema: { ...TEXT, contentMediaType: 'application/octet-stream' } },
  'text/event-stream': { schema: TEXT },
};

export const DRAWN: OpenapiPart = {
  [JSON_TYPE]: { schema: refTo('Images') },
  'text/event-stream': { schema: TEXT },
};

const BYTES: OpenapiPart = { ...TEXT, contentMediaType: 'application/octet-stream' };
const DRAWING_MEMBERS = {
  model: TEXT,
  'n?': orNull({ ...COUNT, minimum: 1, maximum: 10 }),
  ...each(orNull(TEXT), 'size?', 'quality?', 'user?'),
};
const STREAM_MEMBERS = {
  'stream?': orNull({ type: 'boolean' }),
  'partial_images?': orNull({ ...COUNT, minimum: 0, maximum: 3 }),
};
const OTHERS = 'Other members are handed on to the provider.';

export const MEDIA_SCHEMAS: OpenapiPart = {
  SpeechRequest: object(
    {
      model: TEXT,
      input: { ...TEXT, description: 'The text. Its Unicode characters are counted.' },
      'voice?': {},
      'instructions?': orNull(TEXT),
      'response_format?': orNull(oneOf('mp3', 'opus', 'aac', 'flac', 'wav', 'pcm')),
      'stream_format?': orNull(oneOf('audio', 'sse')),
      'speed?': orNull({ type: 'number' }),
    },
    'A request for speech. Other members are handed on to the provider.',
  ),
  TranscriptionRequest: object(
    {
      file: {
        ...TEXT,
        contentMediaType: 'application/octet-stream',
        description: 'With a file name; the fields may follow it.',
      },
      model: TEXT,
      'response_format?': oneOf('json', 'text', 'srt', 'verbose_json', 'vtt', 'diarized_json'),
      'stream?': oneOf('true', 'false'),
      ...each(TEXT, 'language?', 'prompt?', 'temperature?'),
    },
    'A form. Fields that are not listed are handed on; at most 64 parts, and 64 kB in each but the file.',
  ),
  Transcription: object(
    { text: TEXT, 'duration?': { type: 'number' }, 'language?': orNull(TEXT), 'usage?': { type: 'object' } },
    'As the provider wrote it: further members depend on its model and on `response_format`.',
  ),
  ImageRequest: object({ ...DRAWING_MEMBERS, ...STREAM_MEMBERS, prompt: TEXT }, `A request for images. ${OTHERS}`),
  ImageEditRequest: object(
    {
      ...DRAWING_MEMBERS,
      ...STREAM_MEMBERS,
      prompt: TEXT,
      images: listOf(object({ image_url: { ...TEXT, description: 'An https or data URL.' } })),
      'mask?': object({ image_url: TEXT }),
    },
    `A request to change images. ${OTHERS}`,
  ),
  ImageForm: object(
    {
      ...each(TEXT, 'model', 'prompt?', 'n?', 'size?', 'quality?', 'stream?', 'partial_images?'),
      'image?': BYTES,
      'image[]?': listOf(BYTES),
      'mask?': BYTES,
    },
    'A form with `image`, or one or more `image[]`. Fields that are not listed are handed on; at most 64 parts, and 64 kB in each but the files.',
  ),
  Images: object(
    {
      created: COUNT,
      data: listOf(object({ 'b64_json?': TEXT, 'url?': TEXT, 'revised_prompt?': TEXT })),
      ...each(TEXT, 'size?', 'quality?'),
      'usage?': { type: 'object' },
    },
    'As the provider wrote it.',
  ),
};
