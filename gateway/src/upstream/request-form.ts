/** Describes what differs from a request and an answer in JSON. */
import type { HeaderLines } from '../protocols/upstream-protocol.ts';
import type { BodySource } from './body-source.ts';

export interface RequestForm {
  /** Sent in place of the body; null: the body is JSON. */
  readonly upload: BodySource | null;
  /** The answer need be neither JSON nor a stream of events. */
  readonly acceptsAny: boolean;
}

/** The header lines of a JSON request, with those that differ. `form` null: none. */
export function headersOfForm(lines: HeaderLines, form: RequestForm | null): HeaderLines {
  if (form === null) return lines;
  const { upload, acceptsAny } = form;
  return lines.map((line) => {
    const [name] = line;
    if (name === 'content-type' && upload !== null) return [name, upload.contentType];
    return name === 'accept' && acceptsAny ? [name, '*/*'] : line;
  });
}
