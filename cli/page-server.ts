// A loopback web server for the demo's page: static files of one folder and nothing else.
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
};

export interface PageServer {
  /** Such as `http://127.0.0.1:40123/`. */
  readonly url: string;
  close(): Promise<void>;
}

/** Serves the files of `folder` (not of folders below it) on a free loopback port. */
export async function servePages(folder: URL): Promise<PageServer> {
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://localhost').pathname;
    const name = path === '/' ? 'index.html' : path.slice(1);
    const type = TYPES[name.slice(name.lastIndexOf('.') + 1)];
    if (type === undefined || !/^[\w-]+\.\w+$/u.test(name)) {
      response.writeHead(404, { 'content-type': 'text/plain' }).end('not found\n');
      return;
    }
    readFile(new URL(name, folder)).then(
      (body) => {
        response.writeHead(200, { 'content-type': type, 'cache-control': 'no-store' }).end(body);
      },
      () => {
        response.writeHead(404, { 'content-type': 'text/plain' }).end('not found\n');
      },
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  };
}
