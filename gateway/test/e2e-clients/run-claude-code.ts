/** Runs one headless session of Claude Code with its own home and environment. */
import { join } from 'node:path';
import { parseLines, runAgent, type SessionFolder } from './run-agent.ts';

/** One line of `--output-format stream-json`, with the members that the tests read. */
export interface SessionLine {
  readonly type: string;
  readonly subtype?: string;
  readonly is_error?: boolean;
  readonly result?: string;
  readonly num_turns?: number;
  readonly usage?: Readonly<Record<string, unknown>>;
  readonly permission_denials?: readonly unknown[];
}

export interface Session {
  /** Null if it had to be ended. */
  readonly status: number | null;
  readonly lines: readonly SessionLine[];
  readonly stderr: string;
}

export interface SessionPlan {
  readonly program: string;
  readonly folder: SessionFolder;
  readonly prompt: string;
  readonly model: string;
  readonly baseUrl: string;
  /** The credential as `ANTHROPIC_AUTH_TOKEN` or `ANTHROPIC_API_KEY`, and other user settings. */
  readonly environment: Readonly<Record<string, string>>;
  /** In the form of `--allowedTools`. */
  readonly allowedTools: string;
}

/** Runs a session to its end. */
export async function runClaudeCode(plan: SessionPlan): Promise<Session> {
  const flags = ['--output-format', 'stream-json', '--verbose', '--model', plan.model];
  const command = [plan.program, '-p', plan.prompt, ...flags, '--allowedTools', plan.allowedTools];
  const { status, stdout, stderr } = await runAgent(command, plan.folder, {
    CLAUDE_CONFIG_DIR: join(plan.folder.path, '.claude'),
    ANTHROPIC_BASE_URL: plan.baseUrl,
    ...plan.environment,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    CLAUDE_CODE_MAX_RETRIES: '1',
    DISABLE_TELEMETRY: '1',
    DISABLE_AUTOUPDATER: '1',
  });
  return { status, lines: parseLines<SessionLine>(stdout), stderr };
}
