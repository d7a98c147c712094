/** Defines the commands `tollgate credentials …`: flags and output. The operations are in control/routing/. */
import { type Command, InvalidArgumentError } from 'commander';
import { z } from 'zod';
import { WEIGHT_MAX } from '../../config/config.ts';
import type { Json } from '../../control/command.ts';
import { credentialView } from '../../control/routing/routing-shapes.ts';
import { administer } from '../administer.ts';
import { type CliEnvironment, CliFailure, renderJsonLine, renderTable } from '../environment.ts';
import { orNull, parseListOr, type RemovedLimit } from '../flags.ts';

interface Flags {
  /** Names of secrets, each with the environment variable that has it: `api_key=SPARE_KEY`. */
  readonly secret?: string[];
  readonly weight?: number;
  readonly organisation?: string;
  readonly models?: string[] | RemovedLimit;
  readonly json?: true;
}

const SECRET_HELP =
  'a secret and the environment variable that has it, such as api_key=SPARE_KEY, so that it is in no shell history; repeat it for each';
const MODELS_HELP = "models at the provider that it may be used for; '*' alone: all";
const NO_ORGANISATION = 'none';

/** Adds `credentials` and its commands to the program. `variables`: the environment that has the secrets. */
export function register(
  program: Command,
  environment: CliEnvironment,
  variables: Readonly<Record<string, string | undefined>> = process.env,
): void {
  const credentials = program
    .command('credentials')
    .description('see and change the credentials of providers that were entered in the console');

  credentials
    .command('list')
    .description('list the credentials of all providers, without their secrets')
    .argument('[provider]', 'only of this provider')
    .option('--json', 'print one JSON object per line')
    .action(async (provider: string | undefined, flags: Flags) => {
      const found = await administer(environment, 'credentials.list', provider === undefined ? {} : { provider });
      print(environment, z.array(z.json()).parse(found), flags);
    });

  for (const [verb, description] of [
    ['add', 'add a credential to the pool of a provider'],
    ['replace', 'replace the secrets of a credential'],
    ['set', 'change a credential; omitted settings stay'],
  ] as const) {
    const command = credentials
      .command(verb)
      .description(description)
      .argument('<provider>', 'the name of the provider')
      .argument('<name>', 'the name of the credential');
    if (verb !== 'set') {
      command.requiredOption('--secret <name=variable>', SECRET_HELP, (text: string, before: string[] = []) => [
        ...before,
        text,
      ]);
    }
    if (verb !== 'replace') addSettings(command);
    command.option('--json', 'print JSON').action(async (provider: string, name: string, flags: Flags) => {
      const given = {
        provider,
        name,
        ...(verb === 'replace' ? {} : settingsOf(flags)),
        ...secretsOf(flags, variables),
      };
      if (verb === 'set' && Object.values(settingsOf(flags)).every((value) => value === undefined))
        command.error('error: nothing to change; expected --weight, --organisation or --models');
      print(environment, [await administer(environment, `credentials.${verb}`, given)], flags);
    });
  }

  for (const [verb, description] of [
    ['remove', 'remove a credential'],
    ['disable', 'take a credential out of rotation; it stays out over a restart'],
    ['enable', 'put a credential back into rotation'],
  ] as const) {
    credentials
      .command(verb)
      .description(description)
      .argument('<provider>', 'the name of the provider')
      .argument('<name>', 'the name of the credential')
      .option('--json', 'print JSON')
      .action(async (provider: string, name: string, flags: Flags) => {
        const result = await administer(environment, `credentials.${verb}`, { provider, name });
        if (flags.json || verb !== 'remove') print(environment, [result], flags);
        else environment.stdout(`The credential ${name} of ${provider} is removed.\n`);
      });
  }
}

function addSettings(command: Command): void {
  command
    .option('--weight <count>', 'its share of new conversations; 0: only when no other can be used', parseWeight)
    .option('--organisation <name>', `the organization that it belongs to at the provider, or ${NO_ORGANISATION}`)
    .option('--models <list>', MODELS_HELP, parseListOr('*'));
}

/** Flags that were not given are omitted. */
function settingsOf({ weight, organisation, models }: Flags): object {
  return {
    weight,
    organisation: organisation === NO_ORGANISATION ? null : organisation,
    models: orNull(models),
  };
}

/** @throws CliFailure with exit code 2; no message repeats the flag, which may be a secret by mistake. */
function secretsOf({ secret }: Flags, variables: Readonly<Record<string, string | undefined>>): object {
  if (secret === undefined) return {};
  const secrets = secret.map((text) => {
    const [, name, variable] = /^([a-z_]+)=([A-Za-z_][A-Za-z0-9_]*)$/.exec(text) ?? [];
    if (name === undefined || variable === undefined) {
      const expected = 'the name of a secret and of an environment variable: api_key=SPARE_KEY';
      throw new CliFailure(2, `--secret: found something else, expected ${expected}`);
    }
    const value = variables[variable];
    if (value !== undefined && value !== '') return [name, value];
    throw new CliFailure(2, `--secret: no environment variable of the name given for ${name} is set`);
  });
  return { secrets: Object.fromEntries(secrets) };
}

function parseWeight(text: string): number {
  const weight = /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN;
  if (weight <= WEIGHT_MAX) return weight;
  throw new InvalidArgumentError(`found ${JSON.stringify(text)}, expected a whole number from 0 to ${WEIGHT_MAX}.`);
}

function print(environment: CliEnvironment, views: readonly Json[], flags: Flags): void {
  environment.stdout(flags.json ? views.map(renderJsonLine).join('') : renderCredentials(views));
}

function renderCredentials(views: readonly Json[]): string {
  if (views.length === 0) return 'No credentials.\n';
  const rows = views
    .map((view) => credentialView.parse(view))
    .map((one) => [
      one.provider,
      one.name,
      one.source,
      one.last4 === null ? '-' : `…${one.last4}`,
      String(one.weight),
      one.organisation ?? '-',
      one.models?.join(', ') ?? 'all',
      one.out_of_rotation_since === null ? 'in rotation' : `out since ${one.out_of_rotation_since}`,
    ]);
  return renderTable(['PROVIDER', 'NAME', 'SOURCE', 'LAST 4', 'WEIGHT', 'ORGANIZATION', 'MODELS', 'ROTATION'], rows);
}
