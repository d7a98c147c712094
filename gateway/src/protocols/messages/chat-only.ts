/** Owns the chat-completions parameters that the messages endpoint refuses, each with its own way of saying it. Contract, 5. */

export const CHAT_ONLY: ReadonlyMap<string, string> = new Map([
  ['max_completion_tokens', 'the cap on output is "max_tokens"'],
  ['response_format', 'a schema is given as "output_config": {"format": {"type": "json_schema", "schema": …}}'],
  ['n', 'there is one answer per call; leave it out'],
  ['stop', 'stop texts are given as "stop_sequences", an array'],
  ['stream_options', 'usage is always in the stream; leave it out'],
  ['frequency_penalty', 'there is no such parameter; leave it out'],
  ['presence_penalty', 'there is no such parameter; leave it out'],
  ['logprobs', 'there are no log probabilities; leave it out'],
  ['top_logprobs', 'there are no log probabilities; leave it out'],
  ['logit_bias', 'there is no such parameter; leave it out'],
  ['functions', 'tools are given as "tools": [{"name", "description", "input_schema"}]'],
  ['function_call', 'a tool is chosen by "tool_choice": {"type": "tool", "name": …}'],
  ['parallel_tool_calls', 'it is "tool_choice": {"type": "auto", "disable_parallel_tool_use": true}'],
  ['reasoning_effort', 'effort is given as "output_config": {"effort": …} or by "thinking"'],
  ['seed', 'there is no such parameter; leave it out'],
  ['user', 'the end user is named by "metadata": {"user_id": …}'],
  ['modalities', 'answers are text; leave it out'],
  ['audio', 'answers are text; leave it out'],
  ['prediction', 'there is no such parameter; leave it out'],
]);
