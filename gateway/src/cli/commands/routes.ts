/** Defines the commands `tollgate routes …`: flags and output. The operations are in control/routing/. */
import { type Command, InvalidArgumentError } from 'commander';
import { z } from 'zod';
import type { Json } from '../../control/command.ts';
import { explanationView, type RouteView, routeView, statesView } from '../../control/routing/routing-shapes.ts';
import { administer } from '../administer.ts';
import {
  type CliEnvironment,
  CliFailure,
  readNamedFile,
  renderFields,
  renderJsonLine,
  renderTable,
} from '../environment.ts';
import { orNull, parseCount, parseList, parseListOr, type RemovedLimit } from '../flags.ts';
import { renderExplanation } from './explanation.ts';

interface RouteFlags {
  readonly target?: Target[];
  readonly strategy?: string;
  readonly affinity?: string;
  readonly maxExtraAttempts?: number;
  readonly uncertainRetry?: string;
  readonly hedge?: string;
  readonly fallbackOn?: string[] | RemovedLimit;
  readonly alias?: string[] | RemovedLimit;
  readonly file?: string;
  readonly json?: true;
}

type Target = { readonly [member: string]: unknown };

const TARGET_HELP =
  'a target, as members separated by commas: provider=NAME,model=NAME,name=NAME,priority=1,weight=3,max_concurrency=50,tags=eu+zdr,first_byte=60s; repeat it for each';
const FILE_HELP = 'a JSON file with the members of a model in the configuration file; flags come before it';
const ATTEMPTS_MAX = 10;

/** Adds `routes` and its commands to the program. */
export function register(program: Command, environment: CliEnvironment): void {
  const routes = program
    .command('routes')
    .alias('route')
    .description('see and change where requests to a model go, without a restart');

  routes
    .command('list')
    .description('list the routes: those of the file, those entered here, and models with several targets')
    .option('--all', 'also models that a provider serves without a route')
    .option('--json', 'print one JSON object per line')
    .action(async (flags: { all?: true; json?: true }) => {
      const views = z.array(z.json()).parse(await administer(environment, 'routes.list', {}));
      const shown = flags.all ? views : views.filter(isConfigured);
      environment.stdout(flags.json ? shown.map(renderJsonLine).join('') : renderRoutes(shown));
    });

  routes
    .command('show')
    .description('show a route with its targets')
    .argument('<model>', 'a public name of the model')
    .option('--json', 'print JSON')
    .action(async (model: string, flags: RouteFlags) => {
      printRoute(environment, await administer(environment, 'routes.show', { model }), flags.json === true);
    });

  for (const [verb, description] of [
    ['create', 'create a route; it replaces a model that a provider serves without one'],
    ['set', 'change a route; omitted settings stay, and targets are replaced together'],
  ] as const) {
    addRouteFlags(routes.command(verb).description(description).argument('<model>', 'the public name of the model'))
      .option('--json', 'print JSON')
      .action(async (model: string, flags: RouteFlags, command: Command) => {
        const members = definitionOf(flags);
        if (Object.keys(members).length === 0)
          command.error('error: nothing to do; expected --target, --file or a setting');
        const given = { model, ...members };
        printRoute(environment, await administer(environment, `routes.${verb}`, given), flags.json === true);
      });
  }

  routes
    .command('remove')
    .description('remove a route; the model goes back to what its provider serves, if it does')
    .argument('<model>', 'the public name of the model')
    .option('--json', 'print JSON')
    .action(async (model: string, flags: RouteFlags) => {
      const result = await administer(environment, 'routes.remove', { model });
      environment.stdout(flags.json ? renderJsonLine(result) : `The route ${model} is removed.\n`);
    });

  for (const [verb, description, done] of [
    ['disable', 'take a target out of rotation; it stays out over a restart', 'is out of rotation'],
    ['enable', 'put a target back into rotation', 'is in rotation'],
    ['close', 'close the breakers of a target by hand', 'is closed'],
  ] as const) {
    routes
      .command(verb)
      .description(description)
      .argument('<model>', 'a public name of the model')
      .argument('<target>', 'the name of the target')
      .option('--json', 'print JSON')
      .action(async (model: string, target: string, flags: RouteFlags) => {
        const result = await administer(environment, `routes.${verb}`, { model, target });
        environment.stdout(flags.json ? renderJsonLine(result) : `The target ${target} of ${model} ${done}.\n`);
      });
  }

  routes
    .command('states')
    .description('show the live states of targets and credentials')
    .option('--json', 'print JSON')
    .action(async (flags: RouteFlags) => {
      const result = await administer(environment, 'routes.states', {});
      environment.stdout(flags.json ? renderJsonLine(result) : renderStates(result));
    });

  routes
    .command('explain')
    .description('explain where a request would go now, and why not elsewhere; nothing is sent')
    .requiredOption('--model <name>', 'a public name of the model')
    .option('--file <path>', 'the JSON body of the request (default: a short one of text only)')
    .option('--key <id>', 'the key that would send it (default: one without restrictions)')
    .option('--protocol <name>', 'the format of the request (default: the first that the model is served over)')
    .option('--session <id>', 'the session that the client would name')
    .option('--json', 'print JSON')
    .action(async ({ file, json, ...query }: { file?: string; json?: true; model: string }) => {
      const request = file === undefined ? {} : { request: readObject(file) };
      const result = await administer(environment, 'routes.explain', { ...query, ...request });
      environment.stdout(json ? renderJsonLine(result) : renderExplanation(explanationView.parse(result)));
    });
}

function addRouteFlags(command: Command): Command {
  return command
    .option('--target <members>', TARGET_HELP, (text: string, before: Target[] = []) => [...before, parseTarget(text)])
    .option('--strategy <name>', 'order, weight, latency or price')
    .option('--affinity <name>', 'what keeps a conversation at its target: session, prefix or off')
    .option('--max-extra-attempts <count>', 'attempts after the first one failed', parseAttempts)
    .option('--uncertain-retry <usd>', 'USD per request for attempts that the provider may have billed')
    .option('--hedge <on|off>', 'whether a late first attempt gets a second one at another target')
    .option('--fallback-on <list>', 'overflow, policy, or none', parseListOr('none'))
    .option('--alias <list>', 'further public names, or none', parseListOr('none'))
    .option('--file <path>', FILE_HELP);
}

/** The members of the definition; those that were not given are omitted. */
function definitionOf(flags: RouteFlags): object {
  const fromFile = flags.file === undefined ? {} : readObject(flags.file);
  const routing = {
    strategy: flags.strategy,
    affinity: flags.affinity,
    max_extra_attempts: flags.maxExtraAttempts,
    uncertain_retry: flags.uncertainRetry,
    hedge: flags.hedge,
    fallback_on: orNull(flags.fallbackOn) === null ? [] : flags.fallbackOn,
  };
  const isRouted = Object.values(routing).some((value) => value !== undefined);
  return {
    ...fromFile,
    ...(flags.target === undefined ? {} : { targets: flags.target }),
    ...(isRouted ? { routing } : {}),
    ...(flags.alias === undefined ? {} : { alias: orNull(flags.alias) }),
  };
}

const TIMEOUTS: ReadonlySet<string> = new Set(['connect', 'first_byte', 'first_byte_plain', 'idle', 'total']);
const NUMBERS: ReadonlySet<string> = new Set(['priority', 'weight', 'max_concurrency']);

/** `provider=a,weight=3,tags=eu+zdr` → the members of a target. */
function parseTarget(text: string): Target {
  const members: Record<string, unknown> = {};
  const timeouts: Record<string, string> = {};
  for (const part of parseList(text)) {
    const [, name, value] = /^([a-z_]+)=(.+)$/.exec(part) ?? [];
    if (name === undefined || value === undefined) {
      throw new InvalidArgumentError(`found ${JSON.stringify(part)}, expected NAME=VALUE, such as provider=openai.`);
    }
    if (TIMEOUTS.has(name)) timeouts[name] = value;
    else if (name === 'tags') members[name] = value.split('+');
    else members[name] = NUMBERS.has(name) ? parseNumber(name, value) : value;
  }
  return Object.keys(timeouts).length === 0 ? members : { ...members, timeouts };
}

function parseNumber(name: string, text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError(`${name}: found ${JSON.stringify(text)}, expected a whole number.`);
}

function parseAttempts(text: string): number {
  return text === '0' ? 0 : parseCount(ATTEMPTS_MAX)(text);
}

/** @throws CliFailure with exit code 1 if the file cannot be read, 2 if it has no JSON object. */
function readObject(path: string): { readonly [member: string]: unknown } {
  const text = readNamedFile('--file', path);
  try {
    return z.looseObject({}).parse(JSON.parse(text));
  } catch (fault) {
    const found = fault instanceof z.ZodError ? 'something else than a JSON object' : String(fault);
    throw new CliFailure(2, `--file ${path}: found ${found}, expected a file with a JSON object`);
  }
}

/** Whether someone decided about the route, or several targets share it. */
function isConfigured(view: Json): boolean {
  const { source, definition, targets } = routeView.parse(view);
  return source === 'file' || definition !== null || targets.length > 1;
}

function renderRoutes(views: readonly Json[]): string {
  if (views.length === 0) return 'No routes. Create one: tollgate routes create MODEL --target provider=NAME\n';
  const rows = views
    .map((view) => routeView.parse(view))
    .map(({ model, source, served, routing, targets, problem }) => [
      model,
      source,
      routing?.strategy ?? '-',
      served ? targets.map(renderName).join(', ') : 'not used',
      problem ?? '',
    ]);
  return renderTable(['MODEL', 'SOURCE', 'STRATEGY', 'TARGETS', 'PROBLEM'], rows);
}

function renderName({ name, out_of_rotation_since }: RouteView['targets'][number]): string {
  return out_of_rotation_since === null ? name : `${name} (out of rotation)`;
}

function printRoute(environment: CliEnvironment, result: Json, asJson: boolean): void {
  environment.stdout(asJson ? renderJsonLine(result) : renderRoute(routeView.parse(result)));
}

function renderRoute({ model, source, aliases, routing, targets, problem }: RouteView): string {
  const fields = renderFields([
    ['model', model],
    ['source', source],
    ['aliases', aliases.join(', ') || 'none'],
    ['strategy', routing?.strategy ?? '-'],
    ['affinity', routing?.affinity ?? '-'],
    ['extra attempts', String(routing?.max_extra_attempts ?? '-')],
    ...(problem === null ? [] : [['problem', problem] as const]),
  ]);
  const rows = targets.map((target) => [
    target.name,
    target.provider,
    target.model,
    String(target.priority),
    String(target.weight ?? '-'),
    String(target.max_concurrency ?? '-'),
    target.tags.join(', ') || '-',
    target.out_of_rotation_since === null ? 'in rotation' : `out since ${target.out_of_rotation_since}`,
  ]);
  const heading = ['TARGET', 'PROVIDER', 'MODEL THERE', 'PRIORITY', 'WEIGHT', 'CONCURRENCY', 'TAGS', 'ROTATION'];
  return `${fields}\n${renderTable(heading, rows)}`;
}

function renderStates(result: Json): string {
  const { targets, credentials } = statesView.parse(result);
  const targetRows = targets.map((one) => [
    one.model,
    one.target,
    one.state,
    one.until ?? '-',
    one.why ?? '-',
    `${one.faults}/${one.outcomes}`,
    String(one.open_calls),
    one.latency_ms === null ? '-' : `${one.latency_ms} ms`,
  ]);
  const credentialRows = credentials.map((one) => [
    `${one.provider}/${one.name}`,
    one.state,
    one.until ?? '-',
    one.why ?? '-',
    String(one.open_calls),
  ]);
  return [
    renderTable(['MODEL', 'TARGET', 'STATE', 'UNTIL', 'LAST FAILURE', 'FAULTS', 'OPEN', 'LATENCY'], targetRows),
    renderTable(['CREDENTIAL', 'STATE', 'UNTIL', 'WHY', 'OPEN'], credentialRows),
  ].join('\n');
}
