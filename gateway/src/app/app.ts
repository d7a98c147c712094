/**
 * Composes the gateway: the only file that connects the store, identity, configuration, the call pipeline and the
 * servers.
 */
import manifest from '../../package.json' with { type: 'json' };
import { boundCapacity, boundsOfDescriptors, createCapacity, startOverloadWatch } from '../admission/capacity.ts';
import { probeProvider } from '../call/attempt/probe-provider.ts';
import type { CallDeps } from '../call/deps.ts';
import { openPoller } from '../call/detached/open-poller.ts';
import { createIdempotency, startSweeping } from '../call/idempotency/idempotency.ts';
import { createReasoningMark, KeptReasoning } from '../call/plan/kept-reasoning.ts';
import { createReasoningSeal } from '../call/plan/reasoning-seal.ts';
import { RefusedMembers } from '../call/plan/refused-members.ts';
import { openStoredState } from '../call/stored/open-stored-state.ts';
import { openSpool } from '../call/upload/upload-body.ts';
import { findModel } from '../catalog/catalog.ts';
import type { Config } from '../config/config.ts';
import { detectOllama, withOllama } from '../config/discover-providers.ts';
import type { Limits } from '../config/limits.ts';
import { longestCallMs } from '../config/resolve-settings.ts';
import type { ListedModels } from '../config/served-models.ts';
import { explain } from '../console-api/models/explain.ts';
import { readStates } from '../console-api/models/routing-states.ts';
import { FROM_COMMAND_LINE } from '../control/command.ts';
import { createControl } from '../control/control.ts';
import { serveControl } from '../control/control-server.ts';
import { followKeys, loadKeyDirectory } from '../identity/key-directory.ts';
import { startSavingKeyUses } from '../identity/save-key-uses.ts';
import { steadyNowMs, watchSuspensions } from '../lib/deadlines.ts';
import { openFilesMax } from '../lib/open-files.ts';
import { OpenSet } from '../lib/open-set.ts';
import { DISTRIBUTION } from '../lib/package/distribution.ts';
import { createTurns } from '../lib/turns.ts';
import { createLinkMakers, createVerifyEmail } from '../people/members/operator-tools.ts';
import { createSetUp } from '../people/members/set-up.ts';
import { createMakerReader, OPERATOR_ACCOUNT } from '../people/roles.ts';
import { sweepSessions } from '../people/sign-in/sessions.ts';
import { type ClientProtocolName, DEFAULT_PROTOCOL } from '../protocols/names.ts';
import { CLIENT_PROTOCOLS, UPSTREAM_PROTOCOLS } from '../protocols/registry.ts';
import { setCredentialWarnings } from '../providers/credentials/surroundings.ts';
import { ChoiceState } from '../routing/choose/choose.ts';
import { RoutingState } from '../routing/health/routing-state.ts';
import { type RouteTable, suggestModel, type Target } from '../routing/route.ts';
import type { DescribeModel } from '../server/models-endpoint.ts';
import { type HttpServer, startHttpServer, startShedding } from '../server/server.ts';
import { loadTls, watchTls } from '../server/tls-files.ts';
import { createChangeFeed, publishChanges } from '../store/memory/change-feed.ts';
import { acquireDataLock, prepareDataFolder } from '../store/sqlite/database/data-folder.ts';
import { loadMasterKey } from '../store/sqlite/database/master-key.ts';
import { openStore } from '../store/sqlite/open-store.ts';
import { createCallLog, type ProcessLog } from '../telemetry/log.ts';
import { closeIdle, retireConnections } from '../upstream/connection.ts';
import { setEgressProxy } from '../upstream/dial.ts';
import { createGuardedFetch, type Fetch } from '../upstream/guarded-fetch.ts';
import { logHealth } from './log-health.ts';
import { startAlerts } from './open-alerts.ts';
import { openConsole, openPolicy } from './open-console.ts';
import { openContent } from './open-content.ts';
import { openGuardrails } from './open-hooks.ts';
import { openModels, remindDaily, sealCredential } from './open-models.ts';
import { openMoney } from './open-money.ts';
import { auditEntryOf, modelAuditEntryOf, openPeople } from './open-people.ts';
import { readGatewayState, startTelemetry } from './open-telemetry.ts';
import { watchStore } from './store-troubles.ts';

/** A running gateway. */
export interface App {
  readonly deps: CallDeps;
  readonly server: HttpServer;
  /** Sentences for the operator, each with a remedy. */
  readonly notices: readonly string[];
  /** The key created at the first start of a data folder; null afterwards. */
  readonly firstKey: string | null;
  /** The console's one-time setup link, created with the first key. */
  readonly setUpLink: string | null;
  /** The public name of a model to try first; null: no model is served over the protocol. */
  suggestModel(protocol: ClientProtocolName): string | null;
  /** For libraries: reaches the sign-in services of the configuration, else public https addresses only. */
  readonly fetch: Fetch;
  /** Applies a new configuration; running calls keep theirs. Throws if it cannot be built; then nothing changes. */
  reconfigure(config: Config): Promise<void>;
  /** Closes everything behind the server after it stopped: the control socket, the store, the lock. */
  close(): Promise<void>;
}

/** Starts everything. Throws an Error with a message for the operator. */
export async function startApp(given: Config, output: ProcessLog): Promise<App> {
  const { log } = output;
  const { dataDir } = given;
  const startedAtMs = Date.now();
  const folder = prepareDataFolder(dataDir);
  const lock = acquireDataLock(dataDir);
  if (lock === 'held') {
    throw new Error(
      `another Tollgate server uses the data folder ${dataDir}. Stop it, or set TOLLGATE_DATA_DIR to another folder`,
    );
  }
  /** Closes what was opened, in reverse order, at the end or if the start fails. */
  const closers: Array<() => unknown> = [() => lock.release()];
  const closeAll = async () => {
    for (let close = closers.pop(); close !== undefined; close = closers.pop()) await close();
  };
  try {
    const { config, listed } = await addOllama(given);
    setEgressProxy(config.server.egressProxy);
    setCredentialWarnings((message) => log.warn(message));
    let running = config;
    const masterKey = loadMasterKey(dataDir);
    const telemetry = await startTelemetry(() => running, startedAtMs, output);
    // Last of all: the next process may start while the rest is sent.
    closers.unshift(() => telemetry.close());
    const watch = watchStore(log, Date.now);
    const opened = await openStore({
      dataDir,
      onCommit: telemetry.onCommit,
      bindMasterKey: masterKey.bind,
      content: { masterKey: masterKey.key, limits: () => limits() },
      ...watch,
    });
    const changes = createChangeFeed();
    const store = publishChanges(opened, changes);
    closers.push(() => store.close());
    const warnOfSweep = (cause: unknown) => log.warn({ cause: String(cause) }, 'stored responses could not be deleted');
    closers.push(startSweeping([store.idempotency, store.storedState], warnOfSweep));
    const warnOfSessions = (cause: unknown) =>
      log.warn({ cause: String(cause) }, 'ended sessions could not be deleted');
    closers.push(startSweeping([{ sweep: (nowMs) => sweepSessions(store.people, nowMs) }], warnOfSessions));
    const readMakers = createMakerReader(store.people);
    const directory = await loadKeyDirectory(store.policies, masterKey.key, readMakers);
    changes.subscribe(followKeys(directory, store.policies, readMakers));
    const uses = startSavingKeyUses(directory, store.keyUses, (cause) =>
      log.warn({ cause: String(cause) }, 'last-use times of API keys could not be read or stored'),
    );
    closers.push(() => uses.stop());
    const money = await openMoney({
      store,
      directory,
      changes,
      log,
      callMsMax: longestCallMs(config),
      namesOfModel: (model) => namesIn(deps.settings.routes, model),
    });
    closers.push(() => money.close());
    const setUp = createSetUp(store.people, Date.now);
    const content = openContent(store, log);
    closers.push(() => content.close());
    // Changes of models read what others have written: they run one at a time.
    const inTurn = createTurns();
    const control = createControl(
      {
        ...store,
        tryGuardrail: (rule, text, side) => deps.guardrails.tryRule(rule, text, side),
        directory,
        limits: money.billing.rules,
        credit: money.credit,
        links: {
          ...createLinkMakers(store.people, Date.now),
          served: () => ({ console: deps.settings.config.server.console, baseUrl: baseUrl(), localUrl: server.url }),
        },
        users: { verifyEmail: createVerifyEmail(store.people) },
        modelNames: () => ({ names: [...deps.settings.routes.keys()], place: 'on this server' }),
        routing: {
          book: store.providers,
          served: () => models.deps.running(),
          seal: (credential, origin, secrets) => sealCredential(models.deps.seal, credential, origin, secrets),
          probe: probeProvider,
          live: {
            close: (model, target) => closeTarget(deps, model, target),
            states: () => readStates(stateParts),
            explain: (query) => explain(explainParts, { ...query, account: OPERATOR_ACCOUNT }),
          },
        },
        nowMs: Date.now,
      },
      inTurn,
    );
    const limits = () => deps.settings.config.limits;
    const filesMax = openFilesMax();
    const descriptors = boundsOfDescriptors(filesMax);
    const baseUrl = () => deps.settings.config.server.publicUrl ?? server.url;
    const routing = new RoutingState((event) => logHealth(log, event));
    const models = await openModels({
      config,
      listed,
      book: store.providers,
      masterKey: masterKey.key,
      directory,
      readHealth: (provider) => routing.provider(provider, performance.now()),
      inTurn,
      log,
      changes,
      takeOver: (settings) => {
        const { routes } = deps.settings;
        deps.settings = settings;
        routing.reload(targetsOf(settings.routes), performance.now());
        deps.choice.reload([...settings.routes.values()]);
        setEgressProxy(settings.config.server.egressProxy);
        running = settings.config;
        telemetry.reconfigure(running.telemetry);
        boundCapacity(deps.capacity, boundsOf(settings.config.limits, descriptors.callsMax));
        money.leaseCalls(longestCallMs(settings.config));
        money.bindModels((model) => namesIn(routes, model));
      },
      auditEntry: (event) => modelAuditEntryOf(event, Date.now()),
    });
    closers.push(remindDaily(models));
    const guardrails = await openGuardrails(
      { store, changes, masterKey: masterKey.key, seal: models.deps.seal },
      () => deps,
    );
    const deps: CallDeps = {
      settings: models.settings,
      directory,
      recorder: store.recorder,
      capacity: createCapacity(boundsOf(models.settings.config.limits, descriptors.callsMax)),
      spool: openSpool(dataDir),
      log: createCallLog(log),
      observer: telemetry.observer,
      sampleTrace: telemetry.sampleTrace,
      openCalls: new OpenSet(),
      guardrails,
      reasoningMark: createReasoningMark(masterKey.key),
      reasoningSeal: createReasoningSeal(masterKey.key),
      keptReasoning: new KeptReasoning(),
      refusedMembers: new RefusedMembers(),
      idempotency: createIdempotency(masterKey.key, store.idempotency),
      storedState: openStoredState(masterKey.key, store.storedState),
      detached: openPoller(() => deps),
      billing: money.billing,
      routing,
      choice: new ChoiceState(routing),
      ...content.deps,
      protocolViolations: { received: countersOf(UPSTREAM_PROTOCOLS), withheld: countersOf(CLIENT_PROTOCOLS) },
      unknownCallers: 0,
      ready: true,
      draining: false,
    };
    telemetry.watch(() => readGatewayState(deps, opened.health()));
    const stateParts = {
      models: models.deps,
      states: routing,
      choice: deps.choice,
      clocks: () => ({ steadyMs: performance.now(), unixMs: Date.now() }),
    };
    const explainParts = { states: stateParts, deps: () => deps };
    const people = openPeople({
      people: store.people,
      changes,
      setUp,
      directory,
      control,
      masterKey: masterKey.key,
      log,
      note: (note) => store.audit.append([auditEntryOf(note)]),
      config: () => deps.settings.config,
      suggestModel: () => suggestModel(deps.settings.routes, DEFAULT_PROTOCOL, Date.now()),
      nowMs: Date.now,
      steadyNowMs,
    });
    const policy = openPolicy({ store, control, deps, nowMs: Date.now });
    const console = openConsole({
      log,
      directory,
      people,
      policy,
      usage: store.usage,
      billing: money.billing,
      models: models.deps,
      explain: explainParts,
      content: store.content,
      bodyTimes: limits,
      status: { deps: () => deps, calls: store.calls, version: manifest.version, startedAtMs },
    });
    money.readAhead();
    const { readSpends } = policy;
    const { troubles } = watch;
    closers.push(
      startAlerts({ store, deps, log, baseUrl, seal: models.deps.seal, readSpends, states: stateParts, troubles }),
    );
    closers.push(deps.detached.start());
    content.startSweeping(directory, () => deps.settings.config);
    // If the console is off, it is not built; a reload that turns it on builds it for the first page.
    if (config.server.console) console.prepare();
    const tls = config.server.tls === null ? null : loadTls(config.server.tls);
    const { readKeyStanding } = money;
    const server = startHttpServer(
      config.server.host,
      config.server.port,
      { deps, describe: describeModel, renderMetrics: telemetry.render, readKeyStanding, console },
      tls,
    );
    closers.push(() => server.stop(true));
    if (tls !== null) closers.push(watchTls(tls, () => deps.settings.config.server.tls, server.renewTls, log));
    closers.push(
      startShedding({
        bounds: descriptors,
        closeIdle() {
          server.closeIdle();
          closeIdle();
        },
        onShort: (in_use) =>
          log.warn(
            { in_use, limit: filesMax },
            'file descriptors run short: idle connections are closed and slow requests ended; raise the limit (ulimit -n)',
          ),
      }),
    );
    closers.push(startOverloadWatch(deps.capacity.overload, (refuses) => log.warn(refuses ? OVERLOADED : RELIEVED)));
    closers.push(watchSuspensions(retireConnections));
    const socket = serveControl(dataDir, control);
    closers.push(() => socket.stop());
    // The key comes last of all that is written: it is shown only once, so a start that fails must not use it up.
    const isNew = directory.keys.size === 0;
    const setUpNeed = deps.settings.config.server.console && !(await setUp.isClaimed());
    const setUpLink = setUpNeed && isNew ? await setUp.makeLink() : null;
    const firstKey = isNew ? await makeFirstKey(control) : null;
    return {
      deps,
      server,
      firstKey,
      setUpLink: setUpLink === null ? null : `${baseUrl()}/app/setup?token=${setUpLink.token}`,
      notices: [
        ...folder.warnings,
        ...masterKey.warnings,
        ...(socket.notice === null ? [] : [socket.notice]),
        ...models.notices,
        ...(setUpNeed && firstKey === null ? [NOT_SET_UP] : []),
      ],
      fetch: createGuardedFetch((origin) =>
        deps.settings.config.server.oidc.some(({ issuer }) => new URL(issuer).origin === origin),
      ),
      suggestModel: (protocol) => suggestModel(deps.settings.routes, protocol, Date.now()),
      async reconfigure(next) {
        const found = await addOllama(next);
        await models.reconfigure(found.config, found.listed);
      },
      close: closeAll,
    };
  } catch (error) {
    await closeAll();
    throw error;
  }
}

/** `callsMax`: the calls for which the process has descriptors. A key may always hold one body of the maximum size. */
function boundsOf(limits: Limits, callsMax: number) {
  return {
    openCalls: Math.min(limits.openCallsMax, callsMax),
    spool: limits.spoolBytesMax,
    bodies: { process: limits.bodyBytesInFlightMax, key: Math.max(limits.bodyBytesPerKeyMax, limits.bodyBytesMax) },
  };
}

const OVERLOADED = 'too much work: a part of the new requests is answered with 503; running ones go on';
const RELIEVED = 'no request is refused for too much work any more';
const NOT_SET_UP = `The console is not set up yet. Print a one-time link: ${DISTRIBUTION.command} setup-link`;

/** Adds an Ollama on this machine if no file configures anything. */
async function addOllama(config: Config): Promise<{ config: Config; listed: ListedModels }> {
  if (config.providersFrom === 'file') return { config, listed: new Map() };
  // Its address is a constant of the program.
  const names = await detectOllama(
    AbortSignal.timeout(1_000),
    createGuardedFetch(() => true),
  );
  if (names === null || names.length === 0) return { config, listed: new Map() };
  return { config: withOllama(config, names), listed: new Map([['ollama', names]]) };
}

/** Closes the breakers of a target by hand. False: no calls go to it. */
function closeTarget({ settings, routing }: CallDeps, model: string, name: string): boolean {
  const target = settings.routes.get(model)?.targets.find((one) => one.name === name);
  if (target === undefined) return false;
  routing.close(target, performance.now());
  return true;
}

/** All public names of the model that a name refers to; for a name that is not served, the name itself. */
function namesIn(routes: RouteTable, model: string): readonly string[] {
  return routes.get(model)?.names ?? [model];
}

/** The targets of all models. */
function targetsOf(routes: RouteTable): readonly Target[] {
  return [...routes.values()].flatMap(({ targets }) => targets);
}

const describeModel: DescribeModel = ({ targets: [{ catalog }] }) =>
  catalog === null ? null : findModel(catalog.provider, catalog.model);

async function makeFirstKey(control: ReturnType<typeof createControl>): Promise<string> {
  const reply = await control.run('keys.create', { name: 'first key', workspace: 'default' }, FROM_COMMAND_LINE);
  const made = reply.ok ? (reply.result as { readonly key?: unknown }).key : null;
  if (typeof made !== 'string') throw new Error('the first API key could not be created');
  return made;
}

function countersOf<Name extends string>(halves: { readonly [name in Name]: unknown }): { [name in Name]: number } {
  return Object.fromEntries(Object.keys(halves).map((name) => [name, 0])) as { [name in Name]: number };
}
