/** Defines the routes about routing: routes and their targets, pools of credentials, live states, and the preview. */
import { z } from 'zod';
import { changedDefinition, newDefinition } from '../../control/routing/route-definition.ts';
import {
  credentialSettings,
  credentialView,
  explanationView,
  newCredential,
  routeView,
  secrets,
  statesView,
} from '../../control/routing/routing-shapes.ts';
import { CLIENT_PROTOCOL_NAMES } from '../../protocols/names.ts';
import { id, nothing, type RouteTable } from './row.ts';

const modelName = z.string().min(1).max(256);
const targetName = z.string().min(1).max(400);

export const routingRoutes = {
  'GET /accounts/{account}/routes': {
    summary: 'Lists the routes: each served model with its targets, and the entries that are not used.',
    access: 'operator.read',
    reply: z.object({ routes: z.array(routeView) }),
  },
  'GET /accounts/{account}/routes/{model}': {
    summary: 'Returns the route of a model, by any of its public names.',
    access: 'operator.read',
    reply: routeView,
  },
  'POST /accounts/{account}/routes': {
    summary:
      'Creates a route; it replaces a model that its provider serves without one. Applies from the next request.',
    access: 'operator.write',
    body: z.strictObject({ model: modelName, ...newDefinition }),
    reply: routeView,
  },
  'PATCH /accounts/{account}/routes/{model}': {
    summary:
      'Changes a route: given members are replaced, null removes one, omitted ones stay. Members in `before` are as they were read: the change is refused if another user changed one since.',
    access: 'operator.write',
    body: z.strictObject(changedDefinition),
    reply: routeView,
  },
  'DELETE /accounts/{account}/routes/{model}': {
    summary: 'Removes a route; the model goes back to what its provider serves, if it does.',
    access: 'operator.write',
    reply: nothing,
  },
  'POST /accounts/{account}/routes/{model}/rotation': {
    summary: 'Takes a target of a model out of rotation, or puts it back; stays so over a restart.',
    access: 'operator.write',
    body: z.strictObject({ target: targetName, in_rotation: z.boolean() }),
    reply: routeView,
  },
  'GET /accounts/{account}/providers/{provider}/credentials': {
    summary: 'Lists the credentials of a provider, without their secrets.',
    access: 'operator.read',
    reply: z.object({ credentials: z.array(credentialView) }),
  },
  'POST /accounts/{account}/providers/{provider}/credentials': {
    summary: 'Adds a credential to the pool of a provider. Its secrets are encrypted and never returned.',
    access: 'operator.write',
    body: z.strictObject(newCredential),
    reply: credentialView,
  },
  'PATCH /accounts/{account}/providers/{provider}/credentials/{credential}': {
    summary: 'Changes the settings of a credential; omitted members stay.',
    access: 'operator.write',
    body: z.strictObject(credentialSettings),
    reply: credentialView,
  },
  'POST /accounts/{account}/providers/{provider}/credentials/{credential}/replace': {
    summary: 'Replaces the secrets of a credential; applies from the next request.',
    access: 'operator.write',
    body: z.strictObject({ secrets }),
    reply: credentialView,
  },
  'POST /accounts/{account}/providers/{provider}/credentials/{credential}/rotation': {
    summary: 'Takes a credential out of rotation, or puts it back; stays so over a restart.',
    access: 'operator.write',
    body: z.strictObject({ in_rotation: z.boolean() }),
    reply: credentialView,
  },
  'DELETE /accounts/{account}/providers/{provider}/credentials/{credential}': {
    summary: 'Removes a credential.',
    access: 'operator.write',
    reply: nothing,
  },
  'GET /accounts/{account}/routing/states': {
    summary: 'Returns the live states of providers, targets and credentials, with the reasons and ends of pauses.',
    access: 'operator.read',
    reply: statesView,
  },
  'POST /accounts/{account}/routes/{model}/close': {
    summary: 'Closes the breakers of a target by hand, and ends the pauses of its credentials.',
    access: 'operator.write',
    body: z.strictObject({ target: targetName }),
    reply: nothing,
  },
  'POST /accounts/{account}/routes/explain': {
    summary:
      'Explains where a request would go now, what would follow a failure, and why not elsewhere; sends nothing.',
    access: 'operator.read',
    bodyBytesMax: 1024 * 1024,
    body: z.strictObject({
      model: modelName,
      /** Default: the first that the model is served over. */
      protocol: z.enum(CLIENT_PROTOCOL_NAMES).optional(),
      /** The id of the key that would send it. Default: one without restrictions. */
      key: id.optional(),
      /** The JSON body of the request. Default: a short one of text only. */
      request: z.looseObject({}).optional(),
      /** The session that the client would name, which finds its pin. */
      session: z.string().min(1).max(1_000).optional(),
    }),
    reply: explanationView,
  },
} as const satisfies RouteTable;
