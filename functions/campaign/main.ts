import { randomBytes } from 'node:crypto';
import { runStage } from '#kernel/runtime/run-stage.ts';
import { createCampaignStage } from './function.ts';

void runStage(({ engineerTokenSha256 }) =>
  createCampaignStage({ engineerTokenSha256, randomBytes }),
);
