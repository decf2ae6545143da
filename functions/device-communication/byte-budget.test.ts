import { expect, test } from 'vitest';
import { ByteBudget } from './byte-budget.ts';

test('ByteBudget + all bytes lent: the next waits until enough came back', async () => {
  const budget = new ByteBudget({ maxBytes: 10, maxWaitingBytes: 2 });
  const first = await budget.borrow(10, 1);
  const got: number[] = [];
  const second = budget.borrow(6, 1).then((loan) => (got.push(6), loan));
  const third = budget.borrow(1, 1).then((loan) => (got.push(1), loan));
  first.shrinkTo(5);
  await Promise.resolve();
  // One byte would be free for the third, but it is not its turn.
  expect(got).toEqual([]);
  first.shrinkTo(3);
  await Promise.all([second, third]);
  expect(got).toEqual([6, 1]);
  expect(budget.lentBytes).toBe(10);
  for (const loan of [first, await second, await third]) loan.release();
  expect(budget.lentBytes).toBe(0);
});

test('ByteBudget + more bytes than may wait refuses the surplus, and lends again later', async () => {
  const budget = new ByteBudget({ maxBytes: 10, maxWaitingBytes: 1 });
  const first = await budget.borrow(10, 1);
  const second = budget.borrow(10, 1);
  await expect(budget.borrow(1, 1)).rejects.toMatchObject({
    code: 'UPLOADS_BUSY',
    kind: 'retry',
    message: expect.stringContaining('10 bytes') as string,
  });
  first.release();
  (await second).release();
  expect(budget.lentBytes).toBe(0);
});

test('Loan given back twice counts once, and never grows', async () => {
  const budget = new ByteBudget({ maxBytes: 10, maxWaitingBytes: 1 });
  const loan = await budget.borrow(4, 1);
  loan.shrinkTo(9);
  expect(budget.lentBytes).toBe(4);
  loan.release();
  loan.release();
  expect(budget.lentBytes).toBe(0);
});
