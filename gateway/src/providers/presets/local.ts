/** Lists the servers of models that run on this machine: their usual ports and deviations, as data. */
import type { Preset } from '../provider.ts';
import { chatQuirks, HAS_COMPLETIONS, HAS_RESPONSES, localServer } from './preset.ts';

/**
 * They render a conversation by the template of its model, and Qwen's has a place for instructions at its beginning only:
 * https://github.com/vllm-project/vllm/issues/41114 (2026-04-28), https://github.com/anomalyco/opencode/issues/15059
 * (2026-05-23), for SGLang https://github.com/QwenLM/Qwen3.8/issues/164 (2026-05-14). Mistral's and Gemma's want turns that
 * alternate: https://github.com/charmbracelet/crush/issues/279 (2026-01-14).
 */
const TEMPLATES = { strictTurns: true } as const;

export const LOCAL_SERVERS: readonly Preset[] = [
  localServer({
    name: 'ollama',
    title: 'Ollama',
    baseUrl: 'http://127.0.0.1:11434/v1',
    source: 'https://github.com/ollama/ollama/blob/main/docs/openai.md (2026-11-22)',
    // Wire reference C.2 (assistant text) and D.3.
    quirks: chatQuirks({ ...TEMPLATES, nullContent: false, parallelToolCalls: false }, HAS_COMPLETIONS),
  }),
  localServer({
    name: 'vllm',
    title: 'vLLM',
    baseUrl: 'http://127.0.0.1:8000/v1',
    source: 'https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html (2026-11-22)',
    quirks: chatQuirks({ ...TEMPLATES, prefill: 'continue_final_message' }, HAS_COMPLETIONS),
  }),
  localServer({
    name: 'sglang',
    title: 'SGLang',
    baseUrl: 'http://127.0.0.1:30000/v1',
    source: 'https://docs.sglang.ai/basic_usage/openai_api.html (2026-11-22)',
    quirks: chatQuirks({ ...TEMPLATES, prefill: 'continue_final_message' }, HAS_COMPLETIONS),
  }),
  localServer({
    name: 'llama-cpp',
    title: 'llama.cpp',
    baseUrl: 'http://127.0.0.1:8080/v1',
    source: 'https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md (2026-11-22)',
    quirks: chatQuirks(TEMPLATES, HAS_COMPLETIONS),
  }),
  localServer({
    name: 'lmstudio',
    title: 'LM Studio',
    baseUrl: 'http://127.0.0.1:1234/v1',
    source: 'https://lmstudio.ai/docs/developer/openai-compat (2026-11-22)',
    // "Invalid tool_choice type: 'object'": https://github.com/can1357/oh-my-pi/issues/6925 (2026-07-28)
    quirks: chatQuirks({ ...TEMPLATES, namedToolChoice: false }, { ...HAS_RESPONSES, ...HAS_COMPLETIONS }),
  }),
  localServer({
    name: 'localai',
    title: 'LocalAI',
    baseUrl: 'http://127.0.0.1:8080/v1',
    source: 'https://localai.io/features (2026-11-22)',
    quirks: chatQuirks(TEMPLATES, HAS_COMPLETIONS),
  }),
];
