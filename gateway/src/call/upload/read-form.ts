/**
 * Reads a form as the body of a call: a description of its parts as JSON, by which the call is checked, routed and
 * recorded. Its bytes stay in `call.form` until an upstream gets them.
 */
import { CallFailure, invalidRequest } from '../../errors/call-failure.ts';
import { readAudioSeconds } from '../../wire/audio/audio-seconds.ts';
import type { FormPart } from '../../wire/multipart/multipart-reader.ts';
import { isFormType } from '../../wire/multipart/part-head.ts';
import type { Identified } from '../call.ts';
import { ArrivingForm, readBoundary } from './receive-form.ts';
import type { ReceivedForm } from './sent-form.ts';
import { UploadBody, uploadTooLarge } from './upload-body.ts';

/**
 * Reads the whole form. `call.form` owns its bytes, which are freed when the call is released. Rejects with CallFailure as
 * `ArrivingForm.receiveForm` does, and with `invalid_request` or `encoding_unsupported` for its headers.
 */
export async function readForm(call: Identified): Promise<Buffer> {
  const { request, origin, deps, principal } = call;
  const { limits } = call.settings.config;
  const { headers } = request;
  const boundary = readBoundary(checkType(headers));
  if (Number(headers.get('content-length') ?? 0) > limits.uploadBytesMax) throw uploadTooLarge(limits);
  const { bodyBytes, spoolBytes } = deps.capacity;
  const shares = { memory: bodyBytes.open(principal.keyId), disk: spoolBytes.open(principal.keyId) };
  const form: ReceivedForm = { body: new UploadBody(deps.spool, limits, shares), boundary, parts: [] };
  call.form = form;
  await new ArrivingForm(limits, origin).receiveForm(request, form);
  return Buffer.from(JSON.stringify(await describeForm(form)));
}

function checkType(headers: Headers): string {
  const contentType = headers.get('content-type') ?? '';
  if (!isFormType(contentType)) {
    const found = contentType === '' ? 'missing' : JSON.stringify(contentType.slice(0, 80));
    throw new CallFailure('invalid_request', `content-type is ${found}; expected multipart/form-data`, {
      closeConnection: true,
    });
  }
  if ((headers.get('content-encoding')?.trim().toLowerCase() ?? 'identity') === 'identity') return contentType;
  throw new CallFailure('encoding_unsupported', 'a form has a content-encoding; send it uncompressed', {
    closeConnection: true,
  });
}

interface DescribedFile {
  readonly filename: string | null;
  readonly content_type: string | null;
  readonly bytes: number;
  /** Of sound whose headers tell it. */
  readonly seconds?: number;
}

/** The parts by name: texts, and files as what is known of them. Names that end in `[]` have lists. */
async function describeForm(form: ReceivedForm): Promise<object> {
  const members = new Map<string, unknown>();
  for (const part of form.parts) {
    const value = part.text ?? (await describeFile(form, part));
    const before = members.get(part.name);
    if (part.name.endsWith('[]')) members.set(part.name, [...(Array.isArray(before) ? before : []), value]);
    else if (before === undefined) members.set(part.name, value);
    // Providers differ in which of the two they read.
    else throw invalidRequest(`${part.name}: found twice; expected one part of this name`, part.name);
  }
  return Object.fromEntries(members);
}

async function describeFile({ body }: ReceivedForm, part: FormPart): Promise<DescribedFile> {
  const { fileName, contentType, start, end } = part;
  const known = { filename: fileName, content_type: contentType, bytes: end - start };
  const seconds = await readAudioSeconds(body, start, end);
  return seconds === null ? known : { ...known, seconds };
}
