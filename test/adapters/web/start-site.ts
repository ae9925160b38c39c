import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { listenForTest } from '../../support/listen-for-test.ts';

interface Answer {
  status?: number;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
}

type Handler = (request: IncomingMessage, response: ServerResponse) => void;
export type Routes = Record<string, string | Answer | Handler>;

export interface Site {
  origin: string;
  port: number;
  /** The paths that were asked for, in their order. */
  requests: string[];
  routes: Routes;
}

/** A real server on this machine, until the test ends. A plain string is an HTML page; all else is 404. */
export async function startSite(routes: Routes = {}): Promise<Site> {
  const site: Site = { origin: '', port: 0, requests: [], routes };
  const server = createServer((request, response) => {
    site.requests.push(request.url ?? '');
    const route = site.routes[request.url ?? ''] ?? { status: 404 };
    if (typeof route === 'function') return route(request, response);
    const { status = 200, headers = {}, body = '' } = typeof route === 'string' ? { body: route } : route;
    response.writeHead(status, { 'content-type': 'text/html; charset=utf-8', ...headers }).end(body);
  });
  return Object.assign(site, await listenForTest(server));
}

/** A page that links to others. */
export function pageWith(...links: string[]): string {
  return `<!doctype html><title>Page</title>${links.map((link) => `<a href="${link}">x</a>`).join('')}`;
}

export function redirectTo(location: string, status = 302): Answer {
  return { status, headers: { location } };
}
