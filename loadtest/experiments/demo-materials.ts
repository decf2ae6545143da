import { readFile } from 'node:fs/promises';
import { relative } from 'node:path';
import { loadCampaignFile } from '#cli/campaign-file.ts';
import { parseDbc } from '#kernel/dbc/parse-dbc.ts';
import { sha256Hex } from '#kernel/system/sha256.ts';
import { loadDrive } from '#loadtest/vehicles/drive.ts';
import type { CampaignFile } from '#cli/campaign-file.ts';
import type { Database } from '#kernel/dbc/model.ts';
import type { DemoConfig } from '#loadtest/results/run-records.ts';
import type { Drive } from '#loadtest/vehicles/drive.ts';

/** What a demo is made of, read before anything is started, so that a wrong path costs no start. */
export interface DemoMaterials {
  readonly drive: Drive;
  readonly driveInfo: DemoConfig['drive'];
  readonly campaign: CampaignFile;
  /** SHA-256 of each DBC of the campaign → the database. */
  readonly databases: ReadonlyMap<string, Database>;
}

/** Throws CAMPAIGN_FILE_INVALID and what loadDrive throws. */
export async function loadMaterials({
  root,
  drivePath,
  campaignPath,
}: {
  readonly root: string;
  readonly drivePath: string;
  readonly campaignPath: string;
}): Promise<DemoMaterials> {
  const campaign = await loadCampaignFile(campaignPath);
  const drive = await loadDrive(drivePath);
  const bytes = await readFile(drivePath);
  return {
    drive,
    driveInfo: {
      path: relative(root, drivePath),
      sha256: sha256Hex(bytes),
      frames: drive.frames.length,
      faults: drive.faults,
      durationMs: (drive.frames.at(-1)?.timeUs ?? 0) / 1000,
    },
    campaign,
    databases: new Map(
      campaign.decoders.map(({ bytes: dbc }) => [sha256Hex(dbc), parseDbc(dbc)] as const),
    ),
  };
}
