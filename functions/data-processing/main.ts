import { runStage } from '#kernel/runtime/run-stage.ts';
import { createDataProcessingStage } from './function.ts';

void runStage(() => createDataProcessingStage());
