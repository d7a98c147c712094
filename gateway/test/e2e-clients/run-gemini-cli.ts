/** Runs one headless session of Gemini CLI with its own home, offline, set up as docs/connect-a-tool.md says. */
import { type AgentPlan, runAgent } from './run-agent.ts';
import { OFFLINE } from './run-codex.ts';

/** Without it, the CLI (0.61.0) chooses a way to sign in for a changed address that it then refuses. */
export const SETTINGS = { '.gemini/settings.json': '{"security":{"auth":{"selectedType":"gemini-api-key"}}}' };

export interface GeminiSession {
  /** Null if it had to be ended. */
  readonly status: number | null;
  readonly response: string | undefined;
  readonly error: string | undefined;
  readonly stderr: string;
}

interface Printed {
  readonly response?: string;
  readonly error?: { readonly message?: string };
}

/** Runs a session to its end; its tools need no approval. The folder contains `SETTINGS`. */
export async function runGeminiCli({
  program,
  folder,
  baseUrl,
  key,
  model,
  prompt,
}: AgentPlan): Promise<GeminiSession> {
  const flags = ['--skip-trust', '--approval-mode', 'yolo', '--output-format', 'json'];
  const environment = { ...OFFLINE, GEMINI_API_KEY: key, GOOGLE_GEMINI_BASE_URL: baseUrl, NO_COLOR: '1' };
  const { status, stdout, stderr } = await runAgent(
    ['node', program, '-m', model, ...flags, '-p', prompt],
    folder,
    environment,
  );
  const { response, error } = printedIn(stdout) ?? printedIn(stderr) ?? {};
  return { status, response, error: error?.message, stderr };
}

/** The report that the CLI prints at the end, after warnings; null: it printed no report. */
function printedIn(text: string): Printed | null {
  const at = text.indexOf('\n{') + 1;
  try {
    return JSON.parse(text.startsWith('{') ? text : text.slice(at)) as Printed;
  } catch {
    return null;
  }
}
