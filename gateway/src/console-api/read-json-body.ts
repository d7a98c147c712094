/** Owns reading the JSON body of a console request, counted as it comes. */
import { CallFailure } from '../errors/call-failure.ts';
import { ArrivingBody, type BodyTimeLimits } from '../gateway/arriving-body.ts';
import { ConsoleFailure } from './console-failure.ts';

/** How long the body may take, and who sends it. */
export interface BodyArrival {
  readonly limits: BodyTimeLimits;
  readonly address: string | null;
}

/** The parsed body. Throws `not_json`, `too_large`, `body_timeout`, `over_capacity` or `invalid`. */
export async function readJsonBody(request: Request, bytesMax: number, arrival: BodyArrival): Promise<unknown> {
  const type = request.headers.get('content-type') ?? '';
  if (!/^application\/json\s*(?:;|$)/i.test(type)) {
    throw new ConsoleFailure(
      'not_json',
      `found the content type ${JSON.stringify(type.slice(0, 100))}, expected application/json`,
    );
  }
  const text = await readText(request, bytesMax, arrival);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ConsoleFailure('invalid', 'the body is no valid JSON', { cause });
  }
}

async function readText({ body }: Request, bytesMax: number, { limits, address }: BodyArrival): Promise<string> {
  if (body === null) return '';
  try {
    const bytes = await new ArrivingBody(limits, () => address).gather(body, (byteCount) => {
      if (byteCount <= bytesMax) return;
      throw new ConsoleFailure('too_large', `the body is larger than ${bytesMax} bytes`, { closeConnection: true });
    });
    return bytes.toString('utf8');
  } catch (fault) {
    if (!(fault instanceof CallFailure)) throw fault;
    const kind = fault.kind === 'body_timeout' ? 'body_timeout' : 'over_capacity';
    const { retryAfterSeconds } = fault.details;
    throw new ConsoleFailure(kind, fault.message, {
      closeConnection: true,
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    });
  }
}
