import type { ServerResponse } from 'node:http';

type Headers = Readonly<Record<string, string>>;

export function answerJson(
  response: ServerResponse,
  status: number,
  value: unknown,
  headers: Headers = {},
): void {
  const body = JSON.stringify(value);
  response.writeHead(status, {
    ...headers,
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
  });
  response.end(body);
}

export function answerEmpty(response: ServerResponse, status: number, headers: Headers = {}): void {
  // A 204 has no length; another status without body says so.
  response.writeHead(status, status === 204 ? headers : { ...headers, 'content-length': '0' });
  response.end();
}
