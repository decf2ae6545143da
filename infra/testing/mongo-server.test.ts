import { expect, test } from 'vitest';
import { startMongoServer } from './mongo-server.ts';

test('startMongoServer + a URL in the environment starts nothing and gives that', async () => {
  const url = 'mongodb://example.test:27017/';
  const server = await startMongoServer({ TACHOGRAPH_TEST_MONGODB_URL: url });
  expect(server).toMatchObject({ url, reason: '' });
  await server.stop();
});
