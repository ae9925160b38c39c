import type * as z from 'zod';
import { oneLine } from '../../text/visible-text.ts';
import { HttpError } from './http-error.ts';

/** Reads a JSON body. Throws an HttpError if it is not JSON or too large. */
export async function readJsonBody(request: Request, maxBytes: number): Promise<unknown> {
  const type = request.headers.get('content-type') ?? '';
  // A form on another site can send other content types without a CORS preflight.
  if (!/^application\/json\s*(;|$)/i.test(type)) {
    throw new HttpError(415, 'The content type must be application/json.', {
      code: 'unsupported_media_type',
    });
  }
  const text = await readBodyText(request, maxBytes);
  try {
    return JSON.parse(text);
  } catch {
    throw new HttpError(400, 'The body is not valid JSON.', { code: 'invalid_json' });
  }
}

/** Parses a body or query. Throws an HttpError that names the first invalid field. */
export function parseFields<Schema extends z.ZodType>(schema: Schema, fields: unknown): z.infer<Schema> {
  const result = schema.safeParse(fields);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const param = issue?.path.map(String).join('.') ?? '';
  const reason = oneLine(issue?.message ?? 'unknown reason', 200);
  throw new HttpError(400, param === '' ? `The body is not valid: ${reason}.` : `${param}: ${reason}.`, {
    code: 'invalid_value',
    ...(param !== '' && { param }),
  });
}

async function readBodyText(request: Request, maxBytes: number): Promise<string> {
  const tooLarge = () =>
    new HttpError(413, `The body is larger than ${maxBytes} bytes.`, { code: 'body_too_large' });
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) throw tooLarge();
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let text = '';
  let bytes = 0;
  try {
    for await (const part of request.body ?? []) {
      bytes += part.byteLength;
      if (bytes > maxBytes) throw tooLarge();
      text += decoder.decode(part, { stream: true });
    }
    return text + decoder.decode();
  } catch (error) {
    if (error instanceof HttpError) throw error;
    throw new HttpError(400, 'The body is not valid UTF-8.', { code: 'invalid_body' });
  }
}
