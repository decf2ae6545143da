import { createServer, type Socket } from 'node:net';
import { BSON, type Document } from 'mongodb';

/** What the fake says to a command; `hangUp` cuts the connection instead. */
export type FakeAnswer = Document | 'hangUp';

export interface FakeMongoServer {
  readonly port: number;
  /** The commands that were not part of the driver's own upkeep, in order. */
  readonly commands: readonly Document[];
  stop(): Promise<void>;
}

/** The driver's upkeep, answered by the fake itself. */
const UPKEEP = new Set(['hello', 'ismaster', 'isMaster', 'ping', 'endSessions']);
const HELLO = {
  ok: 1,
  ismaster: true,
  isWritablePrimary: true,
  helloOk: true,
  maxBsonObjectSize: 16_777_216,
  maxMessageSizeBytes: 48_000_000,
  maxWriteBatchSize: 100_000,
  minWireVersion: 0,
  maxWireVersion: 21,
};

const OP_REPLY = 1;
const OP_QUERY = 2004;
const OP_MSG = 2013;
const HEADER_BYTES = 16;

/**
 * As much of MongoDB's wire protocol as the driver needs to send a command and read a scripted
 * answer
 * (https://www.mongodb.com/docs/manual/reference/mongodb-wire-protocol/): for failures that a real
 * server does not show on demand.
 */
export async function startFakeMongoServer(
  answer: (command: Document) => FakeAnswer,
): Promise<FakeMongoServer> {
  const commands: Document[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    let buffered = Buffer.alloc(0);
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk: Buffer) => {
      buffered = Buffer.concat([buffered, chunk]);
      while (buffered.length >= 4 && buffered.length >= buffered.readInt32LE(0)) {
        const message = buffered.subarray(0, buffered.readInt32LE(0));
        buffered = buffered.subarray(message.length);
        const command = commandOf(message);
        const isUpkeep = UPKEEP.has(Object.keys(command)[0] ?? '');
        if (!isUpkeep) commands.push(command);
        const said = isUpkeep ? HELLO : answer(command);
        if (said === 'hangUp') socket.destroy();
        else socket.write(replyTo(message, said));
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    commands,
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function commandOf(message: Buffer): Document {
  const opcode = message.readInt32LE(12);
  // OP_QUERY: flags, name of the collection, numbers to skip and to return, document.
  // OP_MSG: flags, kind 0, document.
  const start =
    opcode === OP_QUERY ? message.indexOf(0, HEADER_BYTES + 4) + 1 + 8 : HEADER_BYTES + 5;
  return BSON.deserialize(message.subarray(start, start + message.readInt32LE(start)));
}

function replyTo(message: Buffer, document: Document): Buffer {
  const isQuery = message.readInt32LE(12) === OP_QUERY;
  // OP_REPLY: flags, cursor, starting from, number returned. OP_MSG: flags, kind 0.
  const prefix = Buffer.alloc(isQuery ? 20 : 5);
  if (isQuery) prefix.writeInt32LE(1, 16);
  const body = Buffer.concat([prefix, BSON.serialize(document)]);
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeInt32LE(HEADER_BYTES + body.length, 0);
  header.writeInt32LE(message.readInt32LE(4), 8);
  header.writeInt32LE(isQuery ? OP_REPLY : OP_MSG, 12);
  return Buffer.concat([header, body]);
}
