import type * as z from 'zod';
import { oneLine } from '../../text/visible-text.ts';
import { RequestFault } from './request-fault.ts';

/** The JSON that a request holds. Throws a RequestFault if it is something else or too large. */
export async function readJson(request: Request, maxBytes: number): Promise<unknown> {
  const type = request.headers.get('content-type') ?? '';
  // A form of another site could send other types without the browser asking first.
  if (!/^application\/json\s*(;|$)/i.test(type)) {
    throw new RequestFault(415, 'The body must be sent as application/json.', {
      code: 'unsupported_media_type',
    });
  }
  const text = await readText(request, maxBytes);
  try {
    return JSON.parse(text);
  } catch {
    throw new RequestFault(400, 'The body is not valid JSON.', { code: 'invalid_json' });
  }
}

/** A body as the schema wants it. Throws a fault that names the field. */
export function readFields<Schema extends z.ZodType>(schema: Schema, body: unknown): z.infer<Schema> {
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  const fault = result.error.issues[0];
  const param = fault?.path.map(String).join('.') ?? '';
  const said = oneLine(fault?.message ?? 'unknown fault', 200);
  throw new RequestFault(400, param === '' ? `The body is not valid: ${said}.` : `${param}: ${said}.`, {
    code: 'invalid_value',
    ...(param !== '' && { param }),
  });
}

async function readText(request: Request, maxBytes: number): Promise<string> {
  const announced = Number(request.headers.get('content-length') ?? 0);
  if (announced > maxBytes) throw tooLarge(maxBytes);
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let text = '';
  let bytes = 0;
  try {
    for await (const part of request.body ?? []) {
      bytes += part.byteLength;
      if (bytes > maxBytes) throw tooLarge(maxBytes);
      text += decoder.decode(part, { stream: true });
    }
    return text + decoder.decode();
  } catch (error) {
    if (error instanceof RequestFault) throw error;
    throw new RequestFault(400, 'The body could not be read as UTF-8 text.', { code: 'invalid_body' });
  }
}

function tooLarge(maxBytes: number): RequestFault {
  return new RequestFault(413, `The body is larger than ${maxBytes} bytes.`, { code: 'body_too_large' });
}
