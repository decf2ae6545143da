import { afterEach, expect, test } from 'vitest';
import { until } from '#infra/local/testing/processes.ts';
import { PathSender } from './path-sender.ts';
import { closeGateways, openPath } from './testing/gateways.ts';
import { heldStage, listen } from './testing/stages.ts';

afterEach(closeGateways);

const EVENT = { 'content-type': 'application/json', 'ce-id': 'e-1' };
const BODY = Buffer.from('{"n":1}');
const URL = 'http://127.0.0.1:9/one/in';

function openSender(timeoutMs = 1_000, maxAnswerBytes = 1_000) {
  const opened = openPath({ containerConcurrency: 1 });
  const { path, clock } = opened;
  const options = { clock, timeoutMs, maxAnswerBytes, connections: 1 };
  const sender = new PathSender(path, '/in', URL, options);
  const cuts: ((reason: Error) => void)[] = [];
  const send = () => sender.send(EVENT, BODY, (cut) => cuts.push(cut));
  return { ...opened, sender, send, cuts };
}

test('PathSender posts an event with its headers and gives the answer with its own', async () => {
  const { path, send, sender } = openSender();
  const socketPath = await listen((incoming, response) => {
    response.setHeader('CE-Id', 'e-2');
    let body = '';
    incoming.on('data', (piece: Buffer) => (body += piece.toString()));
    incoming.on('end', () => {
      const { method, url, headers } = incoming;
      response.end(`${method} ${url} ${headers['ce-id']?.toString()} ${body}`);
    });
  });
  path.setReplica('one-0', { socketPath });
  const result = await send();
  expect(result).toMatchObject({ kind: 'answer', status: 200, headers: { 'ce-id': 'e-2' } });
  if (result.kind === 'answer') expect(String(result.body)).toBe('POST /in e-1 {"n":1}');
  expect(sender.url).toBe(URL);
});

test('PathSender answers what the gateway would where there is no answer', async () => {
  const { path, send, clock } = openSender(60_000);
  const pending = send();
  // The Service's own limit.
  await clock.advance(5_000);
  const result = await pending;
  expect(result).toMatchObject({ kind: 'answer', status: 503, headers: { 'retry-after': '1' } });
  if (result.kind === 'answer') expect(String(result.body)).toContain('SERVICE_STARTING');
  expect(path.queued).toBe(0);
});

test('PathSender breaks a delivery off after the time-out, down to the function', async () => {
  const { path, send, clock } = openSender(300);
  const stage = await heldStage();
  path.setReplica('one-0', stage);
  const pending = send();
  await until(() => stage.begun.length === 1);
  await clock.advance(300);
  expect(await pending).toEqual({
    kind: 'failure',
    aborted: false,
    detail: 'no answer within 300 ms',
  });
  await until(() => stage.cut.length === 1);
  expect(path.inFlight).toBe(0);
});

test('PathSender cuts a delivery that waits, and one that is at work', async () => {
  const { path, send, cuts } = openSender();
  const stage = await heldStage();
  path.setReplica('one-0', stage);
  const [atWork, waiting] = [send(), send()];
  await until(() => stage.begun.length === 1);
  for (const cut of cuts) cut(new Error('enough'));
  const failure = { kind: 'failure', aborted: false, detail: 'enough' };
  expect(await Promise.all([atWork, waiting])).toEqual([failure, failure]);
  await until(() => stage.cut.length === 1);
  expect([path.queued, path.inFlight]).toEqual([0, 0]);
});

test('PathSender.destroy cuts everything, as aborted, and leaves no sleep behind', async () => {
  const { sender, send, path, clock } = openSender();
  const pending = [send(), send()];
  await sender.destroy();
  const failure = { kind: 'failure', aborted: true, detail: 'the sender was destroyed' };
  expect(await Promise.all(pending)).toEqual([failure, failure]);
  expect(path.queued).toBe(0);
  await path.close();
  await clock.advance(0);
  expect(clock.sleeping).toBe(0);
});

test('PathSender calls an answer that is too large a failure', async () => {
  const { path, send } = openSender(1_000, 10);
  const socketPath = await listen((_, response) => response.end(Buffer.alloc(11)));
  path.setReplica('one-0', { socketPath });
  const result = await send();
  expect(result).toMatchObject({ kind: 'failure', aborted: false });
  if (result.kind === 'failure') expect(result.detail).toContain('10 bytes');
});
