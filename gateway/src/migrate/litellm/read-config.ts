/** Reads LiteLLM's `config.yaml`, and writes the configuration file that replaces it. */
import { readFileSync, statSync } from 'node:fs';
import { parse, stringify } from 'yaml';
import { explainReadFault } from '../../lib/tables/read-fault.ts';
import type { LiteLlmConfig, ModelPlan } from './plan-models.ts';
import { ExportError } from './read-export.ts';

const BYTES_MAX = 16_777_216;
const ALIASES_MAX = 100;
/** One of these is in every file; LiteLLM may keep all models in its database. */
const MEMBERS = ['model_list', 'litellm_settings', 'router_settings', 'general_settings'];

/** @throws ExportError */
export function readLiteLlmConfig(path: string): LiteLlmConfig {
  let content: unknown;
  try {
    content = parse(readText(path), { merge: true, maxAliasCount: ALIASES_MAX });
  } catch (fault) {
    if (fault instanceof ExportError) throw fault;
    const message = fault instanceof Error ? fault.message : String(fault);
    // The parser adds the lines around a mistake after the first one.
    throw new ExportError(`${path}: ${explainReadFault(fault) ?? message.replace(/:?\n.*/s, '')}`);
  }
  if (typeof content !== 'object' || content === null || !MEMBERS.some((member) => member in content)) {
    throw new ExportError(`${path}: found none of ${MEMBERS.join(', ')}, expected the config.yaml of LiteLLM`);
  }
  return content as LiteLlmConfig;
}

function readText(path: string): string {
  const found = statSync(path);
  if (!found.isFile()) throw new ExportError(`${path}: found a folder or a device, expected a file`);
  if (found.size > BYTES_MAX)
    throw new ExportError(`${path}: found ${found.size} bytes, expected at most ${BYTES_MAX}`);
  return readFileSync(path, 'utf8');
}

const HEADING = '# Made by "tollgate migrate-from litellm". Every member: docs/configuration.md\n';

/** The text of our configuration file. */
export function renderConfigFile({ providers, models }: ModelPlan): string {
  // An empty mapping is a mistake in the file; without it the gateway begins as without a file.
  const content = {
    ...(providers.size === 0 ? {} : { providers: Object.fromEntries(providers) }),
    ...(models.size === 0 ? {} : { models: Object.fromEntries(models) }),
  };
  return HEADING + stringify(content, { lineWidth: 0, aliasDuplicateObjects: false });
}

/** The variables that a configuration file needs. */
export function variablesIn(text: string): readonly string[] {
  return [...new Set([...text.matchAll(/\$\{([A-Za-z_]\w*)\}/g)].map(([, name = '']) => name))].sort();
}
