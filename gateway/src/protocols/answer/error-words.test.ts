/** Tests how account troubles are recognized: by code and by phrase, but not by a quoted phrase. */
import { expect, test } from 'bun:test';
import { readAccountTrouble } from './error-words.ts';

test.each([
  ['', 'insufficient_quota', 'account'],
  ['Billing hard limit has been reached', null, 'account'],
  ['Incorrect API key provided: in***ey. You can obtain an API key from the console.', null, 'account'],
  ['Organization has been restricted. Please reach out to support.', 'organization_restricted', 'account'],
  ['Your account org-1 <ak-2> is suspended due to insufficient balance, please recharge', null, 'account'],
  ['models/gemini-x is not found for API version v1beta, or is not supported', null, 'model'],
  ['Publisher Model `projects/P/locations/l/publishers/google/models/x` not found.', null, 'model'],
  [
    'Project `P` is not allowed to use Publisher Model `projects/P/locations/l/publishers/meta/models/x`',
    null,
    'model',
  ],
  ['Publisher Model `projects/1/x` was not found or your project does not have access to it.', null, 'model'],
  ['This is not a chat model and thus not supported in the v1/chat/completions endpoint.', null, 'model'],
  ['model "llama9" not found, try pulling it first', null, 'model'],
  ["You don't have access to the model with the specified model ID.", 'AccessDeniedException', 'model'],
  ['Model access is denied due to a missing subscription.', 'AccessDeniedException', 'model'],
  ['Model use case details have not been submitted for this account.', 'ResourceNotFoundException', 'model'],
  ['The security token included in the request is invalid.', 'UnrecognizedClientException', 'account'],
  ['The chatCompletion operation does not work with the specified model, x.', 'OperationNotSupported', 'model'],
  ['Not Found', null, 'model'],
  ['model: claude-nowhere', 'not_found_error', 'model'],
] as const)('%s (%p) is trouble of the %s', (message, code, trouble) => {
  expect(readAccountTrouble(message, code)).toBe(trouble);
});

test.each([
  ['', null],
  ['Rate limit reached for gpt-5 on tokens per min (TPM): Limit 400000', 'rate_limit_exceeded'],
  ['You exceeded your current quota, please check your plan and billing details.', null],
  ['Invalid value: "Your credit balance is too low"', 'invalid_value'],
  ['messages.0: insufficient balance', 'invalid_request_error'],
  ['model: Field required to be a text', 'invalid_request_error'],
  ['File not found: file_1', 'not_found_error'],
])('%s (%p) is no account trouble', (message, code) => {
  expect(readAccountTrouble(message, code)).toBeNull();
});
