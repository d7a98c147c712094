/**
 * Serves the routes about routing: routes with their targets, and the pools of credentials. Leaves the changes to
 * commands, which the command line runs too.
 */
import type { Control } from '../../control/control.ts';
import type { CredentialView, RouteView } from '../../control/routing/routing-shapes.ts';
import { viewCredentials, viewRoute, viewRoutes } from '../../control/routing/routing-views.ts';
import { ConsoleFailure } from '../../errors/console-failure.ts';
import type { Handlers } from '../kernel/handlers.ts';
import { runCommand } from '../policy/policy-parts.ts';
import type { ModelDeps } from './model-deps.ts';

export interface RoutingParts {
  readonly models: Pick<ModelDeps, 'running'>;
  readonly control: Control;
}

/** The handlers of the routes about routes and credentials. */
export function routeHandlers({ models, control }: RoutingParts) {
  const { running } = models;
  const findModel = (name: string) => {
    if (running().models.has(name) || running().routes.some(({ entry }) => entry.model === name)) return name;
    return noModel();
  };
  const findCredential = ({ provider, credential }: { readonly provider: string; readonly credential: string }) => {
    if (viewCredentials(running(), provider).some(({ name }) => name === credential))
      return { provider, name: credential };
    throw new ConsoleFailure('not_found', 'there is no such credential; see the credentials of the provider', {
      page: '/app/providers',
    });
  };
  const findProvider = (name: string) => {
    const { config, providers } = running();
    if (config.providers.has(name) || providers.some(({ entry }) => entry.name === name)) return name;
    throw new ConsoleFailure('not_found', 'there is no such provider; GET providers lists them', {
      page: '/app/providers',
    });
  };
  return {
    'GET /accounts/{account}/routes': async () => ({ routes: viewRoutes(running()) }),
    'GET /accounts/{account}/routes/{model}': async ({ path }) => {
      const served = running();
      const model = served.models.get(path.model);
      const view =
        model === undefined
          ? viewRoutes(served).find((one) => one.model === path.model && !one.served)
          : viewRoute(model, served);
      return view ?? noModel();
    },
    'POST /accounts/{account}/routes': (call) => runCommand<RouteView>(control, call, 'routes.create', call.body),
    'PATCH /accounts/{account}/routes/{model}': async (call) =>
      runCommand<RouteView>(control, call, 'routes.set', { model: findModel(call.path.model), ...call.body }),
    'DELETE /accounts/{account}/routes/{model}': async (call) => {
      await runCommand(control, call, 'routes.remove', { model: findModel(call.path.model) });
      return {};
    },
    'POST /accounts/{account}/routes/{model}/rotation': async (call) => {
      const { target, in_rotation } = call.body;
      const name = in_rotation ? 'routes.enable' : 'routes.disable';
      return runCommand<RouteView>(control, call, name, { model: findModel(call.path.model), target });
    },
    'GET /accounts/{account}/providers/{provider}/credentials': async ({ path }) => ({
      credentials: viewCredentials(running(), findProvider(path.provider)),
    }),
    'POST /accounts/{account}/providers/{provider}/credentials': async (call) => {
      const provider = findProvider(call.path.provider);
      return runCommand<CredentialView>(control, call, 'credentials.add', { provider, ...call.body });
    },
    'PATCH /accounts/{account}/providers/{provider}/credentials/{credential}': async (call) =>
      runCommand<CredentialView>(control, call, 'credentials.set', { ...findCredential(call.path), ...call.body }),
    'POST /accounts/{account}/providers/{provider}/credentials/{credential}/replace': async (call) =>
      runCommand<CredentialView>(control, call, 'credentials.replace', { ...findCredential(call.path), ...call.body }),
    'POST /accounts/{account}/providers/{provider}/credentials/{credential}/rotation': async (call) => {
      const name = call.body.in_rotation ? 'credentials.enable' : 'credentials.disable';
      return runCommand<CredentialView>(control, call, name, findCredential(call.path));
    },
    'DELETE /accounts/{account}/providers/{provider}/credentials/{credential}': async (call) => {
      await runCommand(control, call, 'credentials.remove', findCredential(call.path));
      return {};
    },
    'POST /accounts/{account}/routes/{model}/close': async (call) => {
      await runCommand(control, call, 'routes.close', { model: findModel(call.path.model), target: call.body.target });
      return {};
    },
  } satisfies Partial<Handlers>;
}

function noModel(): never {
  throw new ConsoleFailure('not_found', 'there is no such model; GET routes lists them', { page: '/app/models' });
}
