import type { IncomingMessage } from 'node:http';
import { TachographError } from '#kernel/core/errors.ts';
import { checkEngineerToken } from '#kernel/system/check-engineer-token.ts';

/** `POST` adds a Trigger, `DELETE …/NAME` removes one that was added. Below no Service's name. */
export const TRIGGERS_PATH = '/-/triggers';

/** What somebody with the engineers' token may have done to the running cluster. */
export interface GatewayControl {
  /** Hex SHA-256 of the engineers' token. */
  readonly tokenSha256: string;
  addTrigger(trigger: object): Promise<void>;
  removeTrigger(name: string): Promise<void>;
}

/** A Trigger has some hundred bytes. */
const MAX_TRIGGER_BYTES = 65_536;

/** Whether a path is the control's, whoever may use it. */
export const isControl = (url: string): boolean =>
  url === TRIGGERS_PATH || url.startsWith(`${TRIGGERS_PATH}/`);

/**
 * Does what a request to a control path asks; resolves when it is done. Throws ENGINEER_TOKEN_MISSING,
 * ENGINEER_TOKEN_INVALID, ROUTE_UNKNOWN, BODY_TOO_LARGE, REQUEST_INVALID and what the control throws.
 */
export async function serveControl(
  request: Pick<IncomingMessage, 'headers' | 'method' | 'url'>,
  control: GatewayControl,
  readBody: () => Promise<Buffer | null>,
): Promise<void> {
  // Before anything of the body is read.
  checkEngineerToken(request.headers.authorization, control.tokenSha256);
  const { method = 'GET', url = '/' } = request;
  if (method === 'POST' && url === TRIGGERS_PATH) {
    await control.addTrigger(readObject(await readBody()));
    return;
  }
  const name = url.slice(TRIGGERS_PATH.length + 1);
  if (method !== 'DELETE' || name === '') {
    throw new TachographError('ROUTE_UNKNOWN', { method, path: url });
  }
  await control.removeTrigger(name);
}

const EMPTY = Buffer.alloc(0);

function readObject(body: Buffer | null): object {
  if (body !== null && body.length > MAX_TRIGGER_BYTES) {
    throw new TachographError('BODY_TOO_LARGE', { maxBytes: MAX_TRIGGER_BYTES });
  }
  const value = parse((body ?? EMPTY).toString('utf8'));
  if (typeof value === 'object' && value !== null) return value;
  throw new TachographError('REQUEST_INVALID', { detail: 'the body must be a Trigger as JSON' });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const detail = `the body is not JSON: ${error.message}`;
    throw new TachographError('REQUEST_INVALID', { detail }, { cause: error });
  }
}
