/**
 * Assembles the half of the images format that clients use: generations as JSON, edits as JSON or a form, variations as a
 * form.
 */
import type { DirectClient } from '../../client-protocol.ts';
import { DIRECT_CLIENT } from '../../openai/direct-format.ts';
import { checkImages } from './check-images.ts';

function clientAt(below: string, needs: 'prompt' | 'image', takesForms?: DirectClient['takesForms']): DirectClient {
  return {
    ...DIRECT_CLIENT,
    name: 'images',
    endpoints: [{ path: `/images${below}`, countOnly: false }],
    isReplayable: false,
    answersImages: true,
    ...(takesForms === undefined ? {} : { takesForms }),
    checkRequest: (outline, context) => checkImages(outline, context, below, needs),
  };
}

/** Generations. */
export const imagesClient = clientAt('/generations', 'prompt');
export const imageEditClient = clientAt('/edits', 'image', 'or JSON');
export const imageVariationClient = clientAt('/variations', 'image', 'always');
