/** Owns the reading of `output_config` and its old name `output_format` of a messages request. */
import { BodyProblem, type Path } from '../body-problem.ts';
import { checkObject, checkRequiredWord, checkWord } from '../check-member.ts';
import { isAbsent, type JsonObject } from '../json-value.ts';
import type { AnswerFormat } from '../prompt.ts';
import { checkSchema } from '../schema/check-schema.ts';

const EFFORTS = ['low', 'medium', 'high', 'xhigh', 'max'];

/** The wanted format, or null for plain text. */
export function parseMessagesFormat(body: JsonObject): AnswerFormat | null {
  const old = isAbsent(body.output_format) ? null : parseFormat(body.output_format, ['output_format']);
  if (isAbsent(body.output_config)) return old;
  const config = checkObject(body.output_config, ['output_config']);
  checkWord(config.effort, ['output_config', 'effort'], EFFORTS);
  if (isAbsent(config.format)) return old;
  if (old !== null)
    throw new BodyProblem(['output_format'], 'found it beside `output_config.format`; send only the latter');
  return parseFormat(config.format, ['output_config', 'format']);
}

function parseFormat(value: unknown, path: Path): AnswerFormat {
  const format = checkObject(value, path);
  checkRequiredWord(format.type, [...path, 'type'], ['json_schema']);
  const schemaPath = [...path, 'schema'];
  return { schema: checkSchema(format.schema, schemaPath), path: schemaPath };
}
