/** Compares the names of models in exports with those in records: exports add dates and regions, or drop prefixes. */

/** Equal for names of the same model. */
export function attemptModelKey(name: string): string {
  return name
    .toLowerCase()
    .replace(/^arn:.*\//, '')
    .replace(/^(us|eu|apac|au|jp|ca|global)\.(?=[a-z]+\.)/, '')
    .replace(/^(anthropic|openai|google|meta|mistral|cohere|amazon|deepseek|qwen|x-ai|meta-llama|mistralai)[./]/, '')
    .replace(/:\d+$/, '')
    .replace(/-v\d+$/, '')
    .replace(/[-@](\d{8}|\d{4}-\d{2}-\d{2})$/, '')
    .replace(/[^a-z0-9]+/g, '');
}
