import { expect, test } from 'vitest';
import { CATALOG } from '#eventing/contracts/catalog.ts';
import { createCampaignStage } from '#functions/campaign/function.ts';
import { createDataProcessingStage } from '#functions/data-processing/function.ts';
import { createDataProviderStage } from '#functions/data-provider/function.ts';
import { createDeviceCommunicationStage } from '#functions/device-communication/function.ts';
import { createExportStage } from '#functions/export/function.ts';

const engineerTokenSha256 = 'a'.repeat(64);

const STAGES = [
  createCampaignStage({ engineerTokenSha256, randomBytes: (bytes) => Buffer.alloc(bytes) }),
  createDeviceCommunicationStage(),
  createDataProviderStage(),
  createDataProcessingStage(),
  createExportStage({ filesUrl: 'store:', engineerTokenSha256 }),
];

test.each(STAGES)('$name consumes through the broker what the catalogue says', (stage) => {
  const rows = CATALOG.filter(
    ({ route, consumers }) => route === 'broker' && consumers.includes(stage.name),
  );
  expect([...stage.consumes].toSorted()).toEqual(rows.map(({ type }) => type).toSorted());
});
