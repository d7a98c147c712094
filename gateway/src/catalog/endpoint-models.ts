/** Lists models of endpoints that the sources of the snapshot leave out, with the page of each price (2026-11-23). */
import type { Snapshot } from './catalog-model.ts';

const OPENAI = { provider: 'openai', capabilities: [] } as const;
/** Units are paid, tokens are not. */
const NO_TOKENS = { input: '0', output: '0' } as const;

/**
 * Cached input costs 1.25 as text and 2 as an image, and answers do not tell which of it was cached: the higher price. There
 * is no price per image beside the tokens, which would be charged too.
 */
const IMAGES = {
  ...OPENAI,
  modalities: ['text', 'image'],
  price: { input: '5', cache_read: '2', image_input: '8', output: '30' },
} as const;

// https://developers.openai.com/api/docs/deprecations, and its copy of October at
// https://dev.to/max_bob/openai-api-deprecations-2026-2027-every-shutdown-date-and-recommended-replacement-gpt-4o-2ffm
const IMAGES_END = '2026-12-01';
const SPEECH_END = '2027-01-06';
const TRANSCRIPTION_END = '2027-02-26';

export const ENDPOINT_MODELS: Snapshot = {
  version: '2026-11-23',
  models: [
    // https://developers.openai.com/api/docs/models/text-embedding-3-large and -small
    { ...OPENAI, id: 'text-embedding-3-large', modalities: ['text'], price: { input: '0.13', output: '0' } },
    { ...OPENAI, id: 'text-embedding-3-small', modalities: ['text'], price: { input: '0.02', output: '0' } },
    // Free: https://developers.openai.com/api/docs/models/omni-moderation-latest
    {
      ...OPENAI,
      id: 'omni-moderation-latest',
      aliases: ['omni-moderation-2024-09-26'],
      modalities: ['text', 'image'],
      price: NO_TOKENS,
    },
    // https://developers.openai.com/api/docs/models/gpt-image-1-mini. DALL·E and gpt-image-1 are shut down.
    {
      ...OPENAI,
      id: 'gpt-image-1-mini',
      shutdown: IMAGES_END,
      modalities: ['text', 'image'],
      price: { input: '2', cache_read: '0.25', image_input: '2.5', output: '8' },
    },
    // As OpenAI's price page is copied at https://xairouter.com/en/models/gpt-image-2/; its dated name:
    // https://developers.openai.com/api/docs/models/gpt-image-2
    { ...IMAGES, id: 'gpt-image-2', aliases: ['gpt-image-2-2026-04-21'] },
    // OpenAI's price page of 2026-09-09: https://apidog.com/kr/blog/gpt-image-2-5-api/
    { ...IMAGES, id: 'gpt-image-2.5-flare', aliases: ['gpt-image-2.5-flare-2026-09-08'] },
    { ...IMAGES, id: 'gpt-image-2.5-sunburst', aliases: ['gpt-image-2.5-sunburst-2026-09-08'] },
    // As before, cached input too: https://docs.apiyi.com/news/gpt-image-2-6-launch.md
    { ...IMAGES, id: 'gpt-image-2.6-flare' },
    // https://developers.openai.com/api/docs/models/gpt-image-2.6-sunburst
    { ...IMAGES, id: 'gpt-image-2.6-sunburst' },
    // https://developers.openai.com/api/docs/models/tts-1, tts-1-hd and gpt-4o-mini-tts
    {
      ...OPENAI,
      id: 'tts-1',
      shutdown: SPEECH_END,
      modalities: ['text'],
      price: NO_TOKENS,
      per_unit: { character: '0.000015' },
    },
    {
      ...OPENAI,
      id: 'tts-1-hd',
      shutdown: SPEECH_END,
      modalities: ['text'],
      price: NO_TOKENS,
      per_unit: { character: '0.00003' },
    },
    {
      ...OPENAI,
      id: 'gpt-4o-mini-tts',
      aliases: ['gpt-4o-mini-tts-2025-12-15'],
      shutdown: SPEECH_END,
      modalities: ['text'],
      price: { input: '0.6', output: '12' },
    },
    // $0.006 and $0.0045 per minute: https://developers.openai.com/api/docs/models/whisper-1 and gpt-transcribe
    {
      ...OPENAI,
      id: 'whisper-1',
      shutdown: TRANSCRIPTION_END,
      modalities: ['audio'],
      price: NO_TOKENS,
      per_unit: { second: '0.0001' },
    },
    {
      ...OPENAI,
      id: 'gpt-transcribe',
      modalities: ['text', 'audio'],
      price: NO_TOKENS,
      per_unit: { second: '0.000075' },
    },
    // https://developers.openai.com/api/docs/models/gpt-4o-transcribe and gpt-4o-mini-transcribe give the rates of text;
    // that of sound: OpenAI's cookbook (http://www.webkkk.net/openai/openai-cookbook/commit/a22e6cbb), and its price page
    // at https://halfpower.work/?p=3800.
    {
      ...OPENAI,
      id: 'gpt-4o-transcribe',
      shutdown: TRANSCRIPTION_END,
      modalities: ['text', 'audio'],
      price: { input: '2.5', audio_input: '6', output: '10' },
    },
    {
      ...OPENAI,
      id: 'gpt-4o-mini-transcribe',
      aliases: ['gpt-4o-mini-transcribe-2025-12-15'],
      shutdown: TRANSCRIPTION_END,
      modalities: ['text', 'audio'],
      price: { input: '1.25', audio_input: '3', output: '5' },
    },
  ],
};
