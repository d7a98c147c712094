/** Says what becomes of the settings of a LiteLLM configuration besides its models. */
import type { Notes } from './notes.ts';
import type { Params } from './providers.ts';

/** Read elsewhere. */
const CARRIED = new Set([
  'model_list',
  'litellm_settings.fallbacks',
  'litellm_settings.context_window_fallbacks',
  'litellm_settings.content_policy_fallbacks',
  'litellm_settings.default_fallbacks',
  'litellm_settings.num_retries',
  'litellm_settings.max_budget',
  'litellm_settings.budget_duration',
  'litellm_settings.timezone',
  'router_settings.fallbacks',
  'router_settings.context_window_fallbacks',
  'router_settings.content_policy_fallbacks',
  'router_settings.default_fallbacks',
  'router_settings.num_retries',
  'router_settings.routing_strategy',
  'router_settings.model_group_alias',
]);

/** The first row that matches counts. */
const REASONS: readonly (readonly [setting: RegExp, why: string])[] = [
  [/\.master_key$/, 'clients that use the master key need a key of their own: "tollgate keys create"'],
  [/salt_key|disable_adding_master_key|master_key/i, 'there is no master key for requests here'],
  [
    /database|redis|\.store_model_in_db$|connection_pool|use_redis/,
    'this gateway keeps its data in its data folder and needs no database',
  ],
  [
    /callback|langfuse|otel|turn_off_message_logging|redact|json_logs|set_verbose|detailed_debug|service_callback/,
    'set telemetry.otlp; metrics are at /metrics',
  ],
  [/alert|slack|pagerduty/, 'alerts are not taken over; create them here: "tollgate alerts create"'],
  [/cache(?!d)/, 'its response cache is not taken over; turn one on here: "tollgate workspaces set ID --cache all"'],
  [
    /guardrail|polic(y|ies)$|prompt_injection|moderation|presidio|hide_secrets/,
    'guardrails are not taken over; create them here: "tollgate guardrails create"',
  ],
  [/mcp|agent|vector|search_tools|assistant|files_settings|finetune|pass_through|skills/, 'not served here'],
  [
    /retry_policy|allowed_fails|cooldown|disable_cooldowns|enable_pre_call_checks|retry_after/,
    'this gateway decides from live requests which targets work; see docs/fallback.md',
  ],
  [/timeout/, 'set timeouts of a provider or of a model'],
  [
    /drop_params|modify_params|additional_drop/,
    'members that a target does not have are dropped here, except for strict keys',
  ],
  [
    /max_parallel_requests|max_end_user_budget|max_internal_user_budget|internal_user|default_team|default_key|upperbound|key_generation|max_request_size/,
    'set limits of accounts, workspaces, keys and end users here: "tollgate limits set"',
  ],
  [
    /jwt|sso|oauth|custom_auth|allowed_ips|ui_|disable_admin_ui|proxy_admin|role_/,
    'people sign in to the console here; see server.oidc',
  ],
  [/tag/, 'data tags of keys, workspaces and targets choose targets here'],
  [
    /spend_logs|disable_spend|reset_budget|batch_writing|proxy_batch|cost_(discount|margin)/,
    'every request is recorded with its cost here',
  ],
  [/^environment_variables/, 'set the variables in the environment of the server'],
  [/^include/, 'included files are not read; join them into one file first'],
  [/^credential_list/, 'credentials by name are not read; write api_key in each litellm_params'],
];
const UNKNOWN = 'this version does not know it; check what it does for your requests';
const SECTIONS = new Set(['litellm_settings', 'router_settings', 'general_settings']);

export function noteSettings(config: Params, notes: Notes): void {
  for (const [member, value] of Object.entries(config)) {
    const isSection = SECTIONS.has(member) && typeof value === 'object' && value !== null && !Array.isArray(value);
    const settings = isSection ? Object.keys(value).map((each) => `${member}.${each}`) : [member];
    for (const setting of settings) {
      if (CARRIED.has(setting)) continue;
      const kind = setting.endsWith('.master_key') ? 'todo' : 'dropped';
      notes.add(kind, setting, REASONS.find(([pattern]) => pattern.test(setting))?.[1] ?? UNKNOWN);
    }
  }
}
