/** Runs a command that changes data: through the running server, or directly under the lock if none runs. */
import { createLimitRules } from '../admission/limit-rules.ts';
import { probeProvider } from '../call/attempt/probe-provider.ts';
import { listModelNames } from '../catalog/catalog.ts';
import type { Config } from '../config/config.ts';
import { type Entered, readEntered, type Served, serveEntered } from '../config/console-entries.ts';
import { bindingOf } from '../config/console-providers.ts';
import { type ConfigSource, loadConfig } from '../config/load-config.ts';
import { type ControlAnswer, FROM_COMMAND_LINE, type Json, type ModelNames } from '../control/command.ts';
import { answerCommand, createControl } from '../control/control.ts';
import { callControl } from '../control/control-client.ts';
import { loadKeyDirectory } from '../identity/key-directory.ts';
import { createLinkMakers, createVerifyEmail } from '../people/members/operator-tools.ts';
import { type CredentialSeal, createCredentialSeal } from '../providers/credentials/credential-seal.ts';
import type { EnteredReader } from '../store/ports/providers.ts';
import type { StoreReading } from '../store/ports/store.ts';
import { acquireDataLock, prepareDataFolder } from '../store/sqlite/database/data-folder.ts';
import { loadMasterKey } from '../store/sqlite/database/master-key.ts';
import { openReading, openStore } from '../store/sqlite/open-store.ts';
import { type CliEnvironment, CliFailure } from './environment.ts';

const LOCK_WAIT_MS = 5_000;
const LOCK_POLL_MS = 50;

const UNCHECKED =
  'No server is running, and no configuration file here names the providers: the model name was not checked.\n';

/** Ends a command whose outcome is unknown. */
export class OutcomeUnknown extends CliFailure {}

/**
 * Runs an administrative command and returns its result. `lockWaitMs` bounds the wait for another command, or for a
 * server that is just starting.
 *
 * @throws CliFailure with exit code 2 for wrong arguments, 1 if it cannot be done; OutcomeUnknown if it may have been
 * done.
 */
export async function administer(
  environment: CliEnvironment,
  name: string,
  given: object,
  lockWaitMs = LOCK_WAIT_MS,
): Promise<Json> {
  let reply: ControlAnswer;
  try {
    reply = await reachAndRun(environment, name, given, lockWaitMs);
  } catch (fault) {
    throw new CliFailure(1, fault instanceof Error ? fault.message : String(fault));
  }
  if (reply.ok) return reply.result;
  if (reply.kind === 'unknown') throw new OutcomeUnknown(1, reply.message);
  throw new CliFailure(reply.kind === 'usage' ? 2 : 1, reply.message);
}

async function reachAndRun(
  environment: CliEnvironment,
  name: string,
  given: object,
  lockWaitMs: number,
): Promise<ControlAnswer> {
  const { dataDir } = environment;
  const folder = prepareDataFolder(dataDir);
  if (folder.created) environment.stderr(`Created the data folder ${dataDir}.\n`);
  for (const warning of folder.warnings) environment.stderr(`${warning}\n`);
  const giveUpAtMs = performance.now() + lockWaitMs;
  for (;;) {
    const reply = await callControl(dataDir, name, given).catch(unheard);
    if (reply !== 'no-server') return reply;
    const lock = acquireDataLock(dataDir);
    if (lock !== 'held') {
      try {
        return await runHere(environment, name, given);
      } finally {
        lock.release();
      }
    }
    if (performance.now() > giveUpAtMs) {
      throw new Error(
        `The data folder ${dataDir} is locked by another process that accepts no commands; waited ${lockWaitMs / 1000} s. Try again when that process has ended.`,
      );
    }
    await Bun.sleep(LOCK_POLL_MS);
  }
}

/** The server may have died, or the connection been lost, between the change and its reply. */
function unheard(fault: unknown): ControlAnswer {
  return { ok: false, kind: 'unknown', message: fault instanceof Error ? fault.message : String(fault) };
}

async function runHere(environment: CliEnvironment, name: string, given: object): Promise<ControlAnswer> {
  const { key, warnings, bind } = loadMasterKey(environment.dataDir);
  for (const warning of warnings) environment.stderr(`${warning}\n`);
  const store = await openStore({ dataDir: environment.dataDir, bindMasterKey: bind });
  try {
    const directory = await loadKeyDirectory(store.policies, key);
    const seal = createCredentialSeal(key);
    const limits = createLimitRules(await store.policies.readLimitRules());
    const control = createControl({
      policies: store.policies,
      ledger: store.ledger,
      directory,
      limits,
      // Without a server no calls run, so a movement has nothing to apply to.
      credit: (_account, _amount, move) => move(),
      async modelNames() {
        const found = findModelNames(await readEntered(store.providers));
        if (found === null) environment.stderr(UNCHECKED);
        return found;
      },
      routing: {
        book: store.providers,
        served: () => readServed(store.providers, seal),
        seal: (credential, origin, secrets) => seal.seal(bindingOf(credential, origin), secrets),
        probe: probeProvider,
        live: null,
      },
      reconciliations: store.reconciliations,
      alerts: store.alerts,
      views: store.views,
      guardrails: store.guardrails,
      tryGuardrail: null,
      statements: store.statements,
      links: { ...createLinkMakers(store.people, () => environment.nowMs()), served: () => null },
      users: { verifyEmail: createVerifyEmail(store.people) },
      nowMs: () => environment.nowMs(),
    });
    return await answerCommand(control, name, given, FROM_COMMAND_LINE);
  } finally {
    await store.close();
  }
}

/** @throws CliFailure with exit code 1 if the data folder cannot be read. */
export async function withReading<Found>(
  { dataDir }: CliEnvironment,
  look: (reading: StoreReading) => Promise<Found>,
): Promise<Found> {
  let reading: StoreReading | null = null;
  try {
    reading = openReading(dataDir);
    return await look(reading);
  } catch (fault) {
    throw new CliFailure(1, fault instanceof Error ? fault.message : String(fault));
  } finally {
    reading?.close();
  }
}

/** The models that a server would serve with the configuration file here; null: no file names the providers. */
async function readServed(book: EnteredReader, seal: CredentialSeal): Promise<Served | null> {
  const config = loadNamingConfig({ environment: process.env, cwd: process.cwd() });
  if (config === null) return null;
  return serveEntered(config, await readEntered(book), {
    listCatalogNames: listModelNames,
    openCredential: (credential, origin) => seal.open(bindingOf(credential, origin), credential.sealed),
  });
}

/** The configuration of a file that names the providers; null: they depend on the environment of a server. */
function loadNamingConfig(source: ConfigSource): Config | null {
  const { config } = loadConfig(source);
  return config === null || config.file === null || config.providersFrom !== 'file' ? null : config;
}

/**
 * The names of the models in a configuration file and of those of the console's providers. Null if no file names the
 * providers: then they depend on the server's environment and on an Ollama running on its machine.
 */
export function findModelNames(
  entered: Entered,
  source: ConfigSource = { environment: process.env, cwd: process.cwd() },
): ModelNames | null {
  const config = loadNamingConfig(source);
  if (config === null) return null;
  // The names of a provider's models do not depend on whether its secrets can be decrypted.
  const { models } = serveEntered(config, entered, { listCatalogNames: listModelNames, openCredential: () => ({}) });
  return { names: [...models.keys()], place: `in ${config.file}` };
}
