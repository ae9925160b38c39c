import { AppError } from '../../domain/app-error.ts';

const DEFAULT_PORT = 6333;

export interface ServerAddress {
  /** Protocol, host and port as the client takes them. */
  origin: string;
  port: number;
  /** Empty, or what comes before every path of the server, behind a proxy. */
  path: string;
  /** What a person is shown: no user name, no password, no query. */
  shown: string;
}

/** Throws `configuration_error`. */
export function parseAddress(text: string): ServerAddress {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new AppError('configuration_error', 'The address of the Qdrant server is not an http(s) URL.', {
      hint: 'Set QDRANT_URL to something like http://127.0.0.1:6333.',
    });
  }
  // The standard hides a port that is the usual one of its protocol; the client would take 6333 then.
  const port = Number(/^https?:\/\/[^/?#]*:(\d+)(?:[/?#]|$)/i.exec(text.trim())?.[1] ?? DEFAULT_PORT);
  const path = url.pathname.replace(/\/+$/, '');
  const origin = `${url.protocol}//${url.hostname}:${port}`;
  return { origin, port, path, shown: `${origin}${path}` };
}
