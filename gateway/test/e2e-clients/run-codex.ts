/** Runs one headless session of Codex with its own home, offline, configured as `tollgate connect` does. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { TOOLS } from '../../src/connect/tools.ts';
import { parseLines, runAgent, type SessionFolder } from './run-agent.ts';

/** How Codex asks for responses, by the member of its provider that decides. */
export const TRANSPORTS = {
  post: 'supports_websockets = false',
  websocket: 'supports_websockets = true',
} as const;
export type Transport = keyof typeof TRANSPORTS;

/** One line of `codex exec --json`, with the members that the tests read. */
interface CodexLine {
  readonly type: string;
  readonly thread_id?: string;
  readonly item?: {
    readonly type: string;
    readonly text?: string;
    readonly message?: string;
    readonly command?: string;
    readonly aggregated_output?: string;
    readonly status?: string;
  };
  readonly usage?: Readonly<Record<string, number>>;
  readonly message?: string;
  readonly error?: { readonly message?: string };
}

export interface CodexSession {
  /** Null if it had to be ended. */
  readonly status: number | null;
  readonly lines: readonly CodexLine[];
  readonly stderr: string;
}

export interface CodexPlan {
  readonly program: string;
  readonly folder: SessionFolder;
  readonly transport: Transport;
  readonly baseUrl: string;
  readonly key: string;
  readonly model: string;
  /** After `exec`: flags and the prompt. */
  readonly words: readonly string[];
  /** It calls the gateway as its built-in provider, and so with requests that it makes to OpenAI only. */
  readonly asOpenAi?: true;
}

/** Only the gateway is reachable. */
export const OFFLINE = { HTTP_PROXY: 'http://127.0.0.1:9', HTTPS_PROXY: 'http://127.0.0.1:9', NO_PROXY: '127.0.0.1' };
const OWN_SETTINGS = 'check_for_update_on_startup = false\n\n[analytics]\nenabled = false\n';

/** Writes the configuration that `tollgate connect codex` writes, with the transport. */
export function configureCodex({ folder, transport, baseUrl, key, model }: Omit<CodexPlan, 'program' | 'words'>): void {
  const [configuration] = TOOLS.codex?.files ?? [];
  if (configuration === undefined) throw new Error('Codex has no file');
  const file = configuration.path(folder.path, {});
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${configuration.edit(OWN_SETTINGS, { url: baseUrl, key, model })}${TRANSPORTS[transport]}\n`);
}

/** The flags that set a member of its configuration. */
export function set(member: string, value: string | number): string[] {
  return ['-c', `${member}=${JSON.stringify(value)}`];
}

/** Runs a session to its end. Commands run without a sandbox of Codex's, as this machine may have none. */
export async function runCodex(plan: CodexPlan): Promise<CodexSession> {
  configureCodex(plan);
  const flags = ['--json', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox'];
  if (plan.asOpenAi === true)
    flags.push(...set('model_provider', 'openai'), ...set('openai_base_url', `${plan.baseUrl}/v1`));
  const { status, stdout, stderr } = await runAgent([plan.program, 'exec', ...flags, ...plan.words], plan.folder, {
    ...OFFLINE,
    CODEX_API_KEY: plan.key,
  });
  return { status, lines: parseLines<CodexLine>(stdout), stderr };
}
