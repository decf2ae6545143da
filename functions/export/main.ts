import { runStage } from '#kernel/runtime/run-stage.ts';
import { createExportStage } from './function.ts';

await runStage((config) => createExportStage(config));
