import { runStage } from '#kernel/runtime/run-stage.ts';
import { createDataProviderStage } from './function.ts';

void runStage(() => createDataProviderStage());
