import { onTestFinished } from 'vitest';

/** A promise and its opener, for answers that wait for the test; opened at the test's end at the latest. */
export function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  onTestFinished(() => resolve());
  return { opened: promise, open: () => resolve() };
}
