/**
 * Checks requests for images, as JSON or as the description of a form, whose numbers and switches are texts. Upstream judges
 * members that depend on the model. Source: specification of the other endpoints, 3.2.
 */
import type { UnitUsage } from '../../../generation/usage.ts';
import { children, elements, type JsonNode, type JsonOutline, member, stringValue } from '../../../wire/json-node.ts';
import { bodyOf } from '../../check-members.ts';
import { DIRECT_FACTS } from '../../openai/direct-format.ts';
import { readSwitch, readWhole } from '../../openai/form-values.ts';
import { findPricedMembers } from '../../request/priced-members.ts';
import { type CheckContext, checkText, type RequestFacts, readEndUser, refuse } from '../../request/request-facts.ts';
import { findReferences, referencesOf, type StoredReference } from '../../stored/stored-references.ts';
import { imageKind } from '../shared/read-answer.ts';

/** As providers bound it. */
const IMAGES_MAX = 10;
const PARTIAL_IMAGES_MAX = 3;

/** Tokens of one partial image (platform.openai.com/docs/guides/image-generation, 2026-11). */
const PARTIAL_TOKENS = 100;
/**
 * At most the output tokens of one image by its quality, with the text that newer models add: up to 408, 1,584 and 6,240
 * of the image (same source) and 308 of text (recorded traffic, 2026). Others are unknown, and held for at more.
 */
const OUTPUT_TOKENS: { readonly [quality: string]: number } = { low: 1_000, medium: 2_500, auto: 8_000, high: 8_000 };
const OUTPUT_TOKENS_MAX = 24_000;

const NO_TOOLS: ReadonlyMap<string, number> = new Map();

/**
 * `below`: the path of the request below that of the format. `needs`: the member without which there is nothing to do.
 * Throws CallFailure `invalid_request` that names the first invalid member.
 */
export function checkImages(
  outline: JsonOutline,
  { limits }: CheckContext,
  below: string,
  needs: 'prompt' | 'image',
): RequestFacts {
  const root = bodyOf(outline);
  const modelNode = given(root, 'model');
  if (modelNode === undefined) throw refuse('model', null, 'the name of a model; GET /v1/models lists them');
  const inputs = imagesOf(root);
  if (needs === 'prompt') readPrompt(root);
  else if (inputs.length === 0) throw refuse('image', null, 'an image: a part `image` or `image[]`, or `images`');
  const images = readWhole(member(root, 'n'), 'n', 1, IMAGES_MAX) ?? 1;
  const partialImages = readWhole(member(root, 'partial_images'), 'partial_images', 0, PARTIAL_IMAGES_MAX) ?? 0;
  const quality = givenText(root, 'quality');
  const tokens = OUTPUT_TOKENS[quality ?? 'auto'] ?? OUTPUT_TOKENS_MAX;
  const stored: StoredReference[] = [];
  for (const name of ['images', 'image', 'mask']) {
    const node = member(root, name);
    if (node !== undefined) findReferences(node, name, stored);
  }
  const user = given(root, 'user');
  if (user !== undefined) checkText(user, 'user', limits.modelNameMax);
  return {
    ...DIRECT_FACTS,
    model: checkText(modelNode, 'model', limits.modelNameMax, 1),
    below,
    stream: readSwitch(member(root, 'stream'), 'stream'),
    endUser: readEndUser(root, ['user']),
    inputBytes: outline.bytes.length - inputs.reduce((sum, { start, end }) => sum + end - start, 0),
    mediaParts: inputs.length,
    outputTokensMax: tokens + partialImages * PARTIAL_TOKENS,
    answers: images,
    extras: {
      mediaInput: inputs.length > 0,
      mediaOutput: true,
      toolRequests: NO_TOOLS,
      units: { images, ...kindOf(givenText(root, 'model'), givenText(root, 'size'), quality) },
    },
    priced: findPricedMembers(children(root)),
    stored: referencesOf(stored),
  };
}

function readPrompt(root: JsonNode): void {
  const node = member(root, 'prompt');
  if (node === undefined || node.kind !== 'string')
    throw refuse('prompt', node ?? null, 'a text that says what to draw');
}

/** The images of the input: parts of a form, or members of a JSON body. */
function imagesOf(root: JsonNode): readonly JsonNode[] {
  return ['image', 'image[]', 'images', 'mask'].flatMap((name) => {
    const node = member(root, name);
    if (node === undefined || node.kind === 'null') return [];
    return node.kind === 'array' ? elements(node) : [node];
  });
}

/** Null counts as absent. */
function given(root: JsonNode, name: string): JsonNode | undefined {
  const node = member(root, name);
  return node?.kind === 'null' ? undefined : node;
}

function givenText(root: JsonNode, name: string): string | null {
  const node = given(root, name);
  return (node === undefined ? undefined : stringValue(node)) ?? null;
}

/** By which images are priced, where the answer does not say it. */
function kindOf(model: string | null, size: string | null, quality: string | null): Pick<UnitUsage, 'image_kind'> {
  // These models have one default, which their answers do not state.
  const isDalle = model?.includes('dall-e') === true;
  return isDalle ? imageKind(size ?? '1024x1024', quality ?? 'standard') : imageKind(size, quality);
}
