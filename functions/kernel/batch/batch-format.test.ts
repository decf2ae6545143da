import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { MAX_FD_LENGTH, MAX_CLASSIC_LENGTH } from '../canlog/can-frame.ts';
import { ERRORS } from '../core/errors.ts';
import { MAX_SEQ } from '../core/ids.ts';
import { decodeBatch, encodeBatch } from './batch-codec.ts';
import * as limits from './batch-limits.ts';

const root = new URL('../../../', import.meta.url);
const page = readFileSync(new URL('docs/batch-format.md', root), 'utf8');
const example = readFileSync(new URL('examples/clients/batch.json', root), 'utf8');

const blocks = (language: string): string[] =>
  Array.from(
    page.matchAll(new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\``, 'gm')),
    (m) => m[1] ?? '',
  );

const documentedCbor = Buffer.from(
  blocks('hex').join('').replaceAll(/#.*$/gm, '').replaceAll(/\s/g, ''),
  'hex',
);

test('the documented JSON is the example file', () => {
  expect(JSON.parse(blocks('json')[0] ?? '')).toEqual(JSON.parse(example));
});

test('the documented JSON encodes to the documented CBOR, and back', () => {
  const batch = decodeBatch(Buffer.from(example), 'application/json');
  expect(Buffer.from(encodeBatch(batch, 'cbor')).toString('hex')).toBe(
    documentedCbor.toString('hex'),
  );
  expect(decodeBatch(documentedCbor, 'application/cbor')).toEqual(batch);
  expect(page).toContain(`${documentedCbor.length} bytes before gzip`);
});

test('the documented limits are those of the code', () => {
  const [, table = ''] = /<!-- limits -->([^]*)<!-- \/limits -->/.exec(page) ?? [];
  const numbers = new Set(
    Array.from(table.matchAll(/\d[\d,]*/g), ([text]) => Number(text.replaceAll(',', ''))),
  );
  const known = [...Object.values(limits), MAX_SEQ, MAX_CLASSIC_LENGTH, MAX_FD_LENGTH];
  expect(known.filter((limit) => !numbers.has(limit))).toEqual([]);
});

test('the documented answers have the status of the error table', () => {
  const rows = page.matchAll(/^\| (\d{3}) \| (`[A-Z_`, ]+) \|/gm);
  const documented = Array.from(rows, ([, status, codes = '']) =>
    Array.from(codes.matchAll(/[A-Z_]+/g), ([code]) => [code, Number(status)] as const),
  ).flat();
  expect(documented.length).toBeGreaterThan(20);
  for (const [code, status] of documented) {
    expect(ERRORS[code as keyof typeof ERRORS].status, code).toBe(status);
  }
});
