/** Runs one headless session of OpenCode with its own home, offline, configured as `tollgate connect` does. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { TOOLS } from '../../src/connect/tools.ts';
import { type AgentPlan, type AgentRun, runAgent } from './run-agent.ts';
import { OFFLINE } from './run-codex.ts';

export interface OpenCodePlan extends AgentPlan {
  readonly format: OpenCodeFormat;
}

/** The packages of the Vercel AI SDK by which OpenCode speaks each format. */
export const OPENCODE_PACKAGES = {
  chat: '@ai-sdk/openai-compatible',
  messages: '@ai-sdk/anthropic',
  responses: '@ai-sdk/openai',
  gemini: '@ai-sdk/google',
} as const;
export type OpenCodeFormat = keyof typeof OPENCODE_PACKAGES;

/** Runs a session to its end, with the package of the format. */
export function runOpenCode(plan: OpenCodePlan): Promise<AgentRun> {
  const { program, folder, baseUrl, key, model, prompt, format } = plan;
  const [configuration] = TOOLS.opencode?.files ?? [];
  if (configuration === undefined) throw new Error('OpenCode has no file');
  const file = configuration.path(folder.path, {});
  mkdirSync(dirname(file), { recursive: true });
  const settings = configuration.edit('', { url: baseUrl, key, model });
  const base = format === 'gemini' ? settings.replace(`${baseUrl}/v1`, `${baseUrl}/v1beta`) : settings;
  writeFileSync(file, base.replace(OPENCODE_PACKAGES.chat, OPENCODE_PACKAGES[format]));
  return runAgent([program, 'run', prompt], folder, {
    ...OFFLINE,
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_MODELS_FETCH: '1',
  });
}
