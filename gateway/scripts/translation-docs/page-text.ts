/** Contains the fixed text of the translation page, which is not generated from the formats' tables. */

export const INTRODUCTION = `Every model answers at \`/v1/chat/completions\` and at \`/v1/messages\`, unless its configuration keeps it to one of them. Where a
call comes in the format that the provider speaks, nothing is translated: the body goes on as it came, with members that nobody
here knows. Where it comes in the other format, this page says what becomes of each member. One of four things does:

| word | meaning |
|---|---|
| carried | It arrives with the same meaning, under the name that the other format has for it. |
| emulated | The other format has no such member. It is asked for in another way, to the same effect. |
| dropped | It only advises, and the other format has no way to say it. The call goes on without it and says so. |
| refused | Without it the answer would not be the one that was asked for. The call is answered 400: the message names the member and says what to do. |

The last column has conditions and limits: what is carried may be dropped or refused for a model that cannot take it.

## Nothing is lost without a word

The response header \`x-tollgate-dropped\` names every member that was dropped, with commas between them:
\`x-tollgate-dropped: seed,tools.0.input_examples\`. A member that is in no table here is dropped and named as well. A value
that was changed to fit, such as \`max_tokens\` above what the model can give, is named too. What asks for nothing is neither named nor
refused: \`null\`, and values that mean the same as the member left out, such as \`n: 1\`.

A strict key turns every drop into a refusal: \`tollgate keys create --name NAME --strict\`, or \`tollgate keys set ID --strict on\`
for a key that is there already. \`tollgate keys list\` shows which keys are strict. A call that needs no translation is never
refused for it.
`;
