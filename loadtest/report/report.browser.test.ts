import { existsSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { launch, type Browser } from 'puppeteer-core';
import { afterAll, beforeAll, expect, test } from 'vitest';

const BROWSERS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const executablePath = BROWSERS.find((path) => existsSync(path));
const inCi = process.env['CI'] !== undefined;
const REPORTS = ['report.html', 'variability.html'].map(
  (file) => pathToFileURL(`loadtest/report/golden/${file}`).href,
);

// Without a browser: skipped by name on somebody's machine, a failure in continuous integration.
const withBrowser = test.skipIf(executablePath === undefined && !inCi);

let browser: Browser | undefined;

beforeAll(async () => {
  if (executablePath === undefined) return;
  const quiet = ['--disable-background-networking', '--disable-component-update', '--disable-sync'];
  const args = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', ...quiet];
  browser = await launch({ executablePath, args });
});

afterAll(() => browser?.close());

const VIEWS = [
  [1280, 'light'],
  [1280, 'dark'],
  [375, 'light'],
  [375, 'dark'],
] as const;

withBrowser.each(
  REPORTS.flatMap((report) => VIEWS.map(([width, scheme]) => [report, width, scheme] as const)),
)('%s at %d px, %s: loads nothing, fails nothing, fits', async (report, width, scheme) => {
  if (browser === undefined) throw new Error('No Chromium; install it (package chromium)');
  const page = await browser.newPage();
  const requests: string[] = [];
  const faults: string[] = [];
  page.on('request', (request) => requests.push(request.url()));
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('console', (message) => faults.push(message.text()));
  await page.setViewport({ width, height: 800 });
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
  await page.goto(report, { waitUntil: 'load' });
  expect(requests).toEqual([report]);
  expect(faults).toEqual([]);
  const seen = await page.evaluate(`({
    scrollWidth: document.documentElement.scrollWidth,
    background: getComputedStyle(document.body).backgroundColor,
    unnamed: [...document.querySelectorAll('svg')].filter(
      (svg) => svg.querySelector('title') === null && svg.getAttribute('aria-label') === null
        && svg.getAttribute('aria-hidden') === null,
    ).length,
    headings: document.querySelectorAll('h1').length,
  })`);
  const { scrollWidth, background, unnamed, headings } = seen as {
    scrollWidth: number;
    background: string;
    unnamed: number;
    headings: number;
  };
  expect(scrollWidth).toBeLessThanOrEqual(width);
  expect({ unnamed, headings }).toEqual({ unnamed: 0, headings: 1 });
  const brightness = Number(/\d+/.exec(background)?.[0] ?? 255);
  expect(brightness > 127).toBe(scheme === 'light');
  await page.close();
});
