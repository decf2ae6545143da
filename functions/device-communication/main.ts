import { runStage } from '#kernel/runtime/run-stage.ts';
import { createDeviceCommunicationStage } from './function.ts';

void runStage(() => createDeviceCommunicationStage());
