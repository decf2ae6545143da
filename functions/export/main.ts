import { runStage } from '#kernel/runtime/run-stage.ts';
import { createExportStage } from './function.ts';

void runStage((config) => createExportStage(config));
