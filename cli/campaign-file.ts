import { readFile } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { isMap, isScalar, parseDocument, type Pair, type Scalar } from 'yaml';
import { TachographError } from '#kernel/core/errors.ts';
import { sha256Hex } from '#kernel/system/sha256.ts';

/** A DBC that a campaign names, to be sent to `POST /v1/decoders` before the campaign. */
interface CampaignDecoder {
  readonly bus: string;
  readonly name: string;
  readonly bytes: Uint8Array;
}

export interface CampaignFile {
  /** For `POST /v1/campaigns`: the file with hashes in place of paths, every line where it was. */
  readonly text: string;
  readonly decoders: readonly CampaignDecoder[];
}

/** What of the text is replaced: [from, to). */
interface Edit {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/**
 * Reads a campaign and the DBC files it names (`can0: { dbc: PATH }`, relative to the campaign's
 * file).
 *
 * Everything else is left for the service to judge, and the text keeps its lines, so that the
 * places in its answer are those of the file. CAMPAIGN_FILE_INVALID when a file cannot be read.
 */
export async function loadCampaignFile(path: string): Promise<CampaignFile> {
  const source = (await readGiven(path, path)).toString('utf8');
  const decoders: CampaignDecoder[] = [];
  const edits: Edit[] = [];
  for (const { bus, pair, file } of dbcPairs(source)) {
    const bytes = await readGiven(resolve(dirname(path), file), path);
    decoders.push({ bus, name: basename(file), bytes });
    edits.push(replacement(pair.key, 'sha256'), replacement(pair.value, sha256Hex(bytes)));
  }
  // From the end, so that the places before stay right.
  const text = edits
    .sort((a, b) => b.from - a.from)
    .reduce((all, { from, to, text }) => all.slice(0, from) + text + all.slice(to), source);
  return { text, decoders };
}

interface DbcPair {
  readonly bus: string;
  readonly pair: { readonly key: Scalar; readonly value: Scalar };
  readonly file: string;
}

/** The `dbc: PATH` members of the decoders. A text that is no campaign has none. */
function dbcPairs(source: string): readonly DbcPair[] {
  const decoders = parseDocument(source, { version: '1.2', prettyErrors: false }).get('decoders');
  if (!isMap(decoders)) return [];
  return decoders.items.flatMap(({ key: bus, value: decoder }) => {
    if (!isMap(decoder)) return [];
    const pair = decoder.items.find(({ key }) => isScalar(key) && key.value === 'dbc');
    return isScalar(bus) && isTextPair(pair)
      ? [{ bus: String(bus.value), pair, file: String(pair.value.value) }]
      : [];
  });
}

const isTextPair = (pair: Pair | undefined): pair is Pair & DbcPair['pair'] =>
  isScalar(pair?.key) && isScalar(pair.value) && typeof pair.value.value === 'string';

function replacement({ range }: Scalar, text: string): Edit {
  const [from = 0, to = from] = range ?? [];
  return { from, to, text: JSON.stringify(text) };
}

async function readGiven(file: string, campaign: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (error) {
    const detail = `${file} cannot be read (${(error as NodeJS.ErrnoException).code})`;
    throw new TachographError('CAMPAIGN_FILE_INVALID', { campaign, detail }, { cause: error });
  }
}
