import type * as z from 'zod';
import { oneLine } from '../../text/visible-text.ts';
import { HttpError } from './http-error.ts';

/** Reads a JSON body. Throws an HttpError if it is not JSON or too large. */
export async function readJsonBody(request: Request, maxBytes: number): Promise<unknown> {
  const type = request.headers.get('content-type') ?? '';
  // A form on another site can send other content types without a CORS preflight.
  if (!/^application\/json\s*(;|$)/i.test(type)) {
    throw new HttpError(415, 'unsupported_media_type', 'The content type must be application/json.');
  }
  try {
    const parts: Uint8Array[] = [];
    let bytes = 0;
    for await (const part of request.body ?? []) {
      bytes += part.byteLength;
      if (bytes > maxBytes) {
        throw new HttpError(413, 'body_too_large', `The body is larger than ${maxBytes} bytes.`);
      }
      parts.push(part);
    }
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(parts)));
  } catch (error) {
    if (error instanceof HttpError) throw error;
    throw new HttpError(400, 'invalid_json', 'The body is not valid JSON in UTF-8.');
  }
}

/** Parses a body or query. Throws an HttpError that names the first invalid field. */
export function parseFields<Schema extends z.ZodType>(schema: Schema, fields: unknown): z.infer<Schema> {
  const result = schema.safeParse(fields);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const param = issue?.path.map(String).join('.') ?? '';
  throw new HttpError(400, 'invalid_value', describeIssue(param || 'The body', issue), {
    ...(param !== '' && { param }),
  });
}

function describeIssue(subject: string, issue: z.core.$ZodIssue | undefined): string {
  if (issue?.code === 'invalid_value') return `${subject} must be one of ${issue.values.join(', ')}.`;
  if (issue?.code !== 'invalid_type') return `${subject}: ${oneLine(issue?.message ?? 'not valid', 200)}.`;
  const isMissing = issue.message.endsWith('undefined');
  return isMissing ? `${subject} is required.` : `${subject} must be of the type ${issue.expected}.`;
}
