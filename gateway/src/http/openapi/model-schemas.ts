/** Owns the OpenAPI schemas of the model list, which both families of clients read, and of the two probes. */
import { count, flag, listOf, type OpenapiPart, orNull, refTo, shape, text } from './schema-parts.ts';

export const MODEL_SCHEMAS: OpenapiPart = {
  Model: shape(
    'A model that the calling key may use. The members serve both families of clients.',
    {
      id: text('The name to call it by.'),
      object: { const: 'model' },
      type: { const: 'model' },
      created: count('Unix time in seconds.'),
      created_at: { type: 'string', format: 'date-time', description: 'The same moment.' },
      owned_by: text('Who offers it.'),
      display_name: text('A name for people.'),
      max_input_tokens: orNull(count('The longest prompt it takes.')),
      max_tokens: orNull(count('The longest answer it gives.')),
      protocols: listOf({ enum: ['chat', 'messages'] }, 'The endpoints that this name answers on.'),
    },
    ['id', 'object', 'type'],
  ),
  ModelList: shape(
    'The models that the calling key may use.',
    {
      object: { const: 'list' },
      data: listOf(refTo('Model'), 'The models.'),
      has_more: flag('The list goes on behind `last_id`, where `limit` cut it.'),
      first_id: orNull(text('The first id.')),
      last_id: orNull(text('The last id.')),
    },
    ['object', 'data', 'has_more'],
  ),
  Probe: shape('The state of the service.', {}),
};
