/** Lists models of endpoints that the sources of the snapshot leave out, with the vendor's own page of each price. */
import type { Snapshot } from './catalog-model.ts';

const OPENAI = { provider: 'openai', capabilities: [] } as const;

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
      price: { input: '0', output: '0' },
    },
  ],
};
