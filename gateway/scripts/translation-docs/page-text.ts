/** Contains the fixed text of the translation page, which is not generated from the formats' tables. */

export const INTRODUCTION = `Every model answers at \`/v1/chat/completions\`, \`/v1/messages\`, \`/v1/responses\` and Gemini's paths, unless its configuration limits it. If the
provider speaks the format of the request, nothing is translated: the body passes unchanged, including unknown members. If not,
this page says what happens to each member:

| fate | meaning |
|---|---|
| carried | It arrives with the same meaning, under the name of the other format. |
| emulated | The other format has no such member. The same effect is requested in another way. |
| dropped | It is advisory, and the other format cannot express it. The request continues without it, and the response names it. |
| refused | Without it the answer would be a different one. The request gets 400; the message names the member and the remedy. |

The last column has conditions and limits: a carried member may be dropped or refused for a model that does not support it.

## Dropped members are named

The response header \`x-tollgate-dropped\` names every dropped member, separated by commas:
\`x-tollgate-dropped: seed,tools.0.input_examples\`. A member that is in no table here is dropped and named too. A value that was
changed to fit, such as \`max_tokens\` above the model's maximum, is also named. Values without effect are neither named nor
refused: \`null\`, and values that equal the default, such as \`n: 1\`.

A strict key turns every drop into a refusal: \`tollgate keys create --name NAME --strict\`, or
\`tollgate keys set ID --strict on\` for an existing key. \`tollgate keys list\` shows which keys are strict. A request that needs no
translation is never refused for it.
`;
