import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { launch, type Browser, type Page } from 'puppeteer-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { renderReport } from '#loadtest/report/render-report.ts';
import { deriveSummary } from '#loadtest/results/run-records.ts';
import { exampleRecords } from '#loadtest/results/testing/example-records.ts';
import { analyzeTraces } from '#loadtest/tracing/analyze-traces.ts';
import { syntheticRun } from '#loadtest/tracing/testing/synthetic-run.ts';

const BROWSERS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const executablePath = BROWSERS.find((path) => existsSync(path));
// Without a browser: skipped by name on somebody's machine, a failure in continuous integration.
const withBrowser = test.skipIf(executablePath === undefined && process.env['CI'] === undefined);

let browser: Browser | undefined;
const folder = mkdtempSync(join(tmpdir(), 'tachograph-traces-'));
const file = join(folder, 'report.html');

/** A run of 5,000 events: some cold, some failed, one lost. */
function report(): string {
  const run = syntheticRun(
    Array.from({ length: 5_000 }, (_, seq) => ({
      vehicle: `veh-${String((seq % 20) + 1).padStart(4, '0')}`,
      session: 's1',
      seq,
      intendedMs: seq * 20,
      uploadMs: seq % 97,
      ...(seq % 900 === 3 ? { coldMs: { export: 120 + seq / 100 } } : {}),
      ...(seq % 1_000 === 5 ? { retries: { 'data-processing': 2 } } : {}),
      ...(seq === 77 ? { lostAfter: 'export' } : {}),
    })),
  );
  const traces = analyzeTraces({ ...run, tracing: null, faults: [], windowMs: 1_000 });
  const records = exampleRecords(20);
  const { config, run: outcome } = records;
  const input = { config, run: outcome, records: records.records, exports: [], plots: null };
  return renderReport({ ...input, ...deriveSummary(records), traces, scaling: null });
}

beforeAll(async () => {
  writeFileSync(file, report());
  if (executablePath === undefined) return;
  const quiet = ['--disable-background-networking', '--disable-component-update', '--disable-sync'];
  browser = await launch({ executablePath, args: ['--no-sandbox', '--disable-gpu', ...quiet] });
});

afterAll(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true });
});

async function open(width: number, scheme: 'light' | 'dark', script = true) {
  if (browser === undefined) throw new Error('No Chromium; install it (package chromium)');
  const page = await browser.newPage();
  const requests: string[] = [];
  const faults: string[] = [];
  page.on('request', (request) => requests.push(request.url()));
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('console', (message) => faults.push(message.text()));
  await page.setJavaScriptEnabled(script);
  await page.setViewport({ width, height: 800 });
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
  const url = pathToFileURL(file).href;
  await page.goto(url, { waitUntil: 'load' });
  return { page, faults, others: () => requests.filter((one) => one !== url) };
}

const shown = (page: Page): Promise<string[]> =>
  page.evaluate(`[...document.querySelectorAll('details.trace')].filter((one) => !one.hidden)
    .map((one) => one.dataset.text)`) as Promise<string[]>;

withBrowser.each([
  [1_280, 'light'],
  [400, 'dark'],
] as const)(
  'a run of 5,000 events at %d px, %s: loads nothing, fails nothing, fits',
  async (width, scheme) => {
    const { page, faults, others } = await open(width, scheme);
    expect(faults).toEqual([]);
    expect(others()).toEqual([]);
    const scrollWidth = await page.evaluate('document.documentElement.scrollWidth');
    expect(scrollWidth).toBeLessThanOrEqual(width);
    expect((await shown(page)).length).toBeGreaterThan(15);
    await page.close();
  },
);

withBrowser(
  'the search finds a vehicle, a batch and a trace; the kinds leave out what they name',
  async () => {
    const { page, faults } = await open(1_280, 'light');
    const all = await shown(page);
    const type = async (words: string): Promise<readonly string[]> => {
      await page.evaluate(`document.querySelector('[name=words]').value = ''`);
      await page.type('[name=words]', words);
      return shown(page);
    };
    const lost = await type('veh-0018 s1/77');
    expect(lost).toHaveLength(1);
    const traceId = /[0-9a-f]{32}/.exec(lost[0] ?? '')?.[0] ?? '';
    expect(await type(traceId)).toEqual(lost);
    expect(await type('nothing of the kind')).toEqual([]);
    await page.evaluate(`{
    const form = document.getElementById('trace-filters');
    form.elements.words.value = '';
    for (const box of form.querySelectorAll('[type=checkbox]')) box.checked = box.value === 'failed';
    form.dispatchEvent(new Event('input'));
  }`);
    const failed = await shown(page);
    expect(failed.length).toBeLessThan(all.length);
    expect(failed).toEqual(expect.arrayContaining([...lost]));
    expect(await page.$eval('#traces-shown', (node) => node.textContent)).toBe(
      `${failed.length} of ${all.length} shown`,
    );
    expect(faults).toEqual([]);
    await page.close();
  },
);

withBrowser('a waterfall opens by keyboard, and shows its bars', async () => {
  const { page } = await open(1_280, 'light');
  await page.focus('details.trace summary');
  await page.keyboard.press('Enter');
  const seen = await page.evaluate(`(() => {
    const trace = document.querySelector('details.trace');
    const bars = [...trace.querySelectorAll('svg rect')].map((bar) => bar.getBoundingClientRect());
    return { open: trace.open, bars: bars.filter(({ width, height }) => width > 0 && height > 0).length };
  })()`);
  expect(seen).toMatchObject({ open: true });
  expect((seen as { bars: number }).bars).toBeGreaterThan(30);
  await page.close();
});

withBrowser(
  'without scripts every kept trace is there, and no filter that would do nothing',
  async () => {
    const { page } = await open(1_280, 'light', false);
    await page.setJavaScriptEnabled(true);
    expect((await shown(page)).length).toBeGreaterThan(15);
    expect(await page.$eval('#trace-filters', (form) => form.hasAttribute('hidden'))).toBe(true);
    await page.close();
  },
);
