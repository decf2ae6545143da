import type { CloudEvent } from '#eventing/contracts/cloud-event.ts';
import type { StageDemand } from './stage-demand.ts';
import type { Outcome, StageContext, StageDefinition } from './stage.ts';

/**
 * The stage's work for an event, with what its demand asks around it or in place of it. A demand after
 * the work is executed only when there was something done.
 */
export async function handleEvent(
  definition: StageDefinition,
  event: CloudEvent,
  context: StageContext,
  signal: AbortSignal,
  demand: StageDemand | undefined,
): Promise<Outcome> {
  if (demand === undefined) return definition.handle(event, context, signal);
  const cause = { key: event.id, subject: event.subject };
  await demand.consume('before', cause, signal);
  let outcome: Outcome;
  if (definition.emulate !== undefined && demand.has('instead')) {
    await demand.consume('instead', cause, signal);
    outcome = await definition.emulate(event, context, signal);
  } else {
    outcome = await definition.handle(event, context, signal);
  }
  if (outcome.kind === 'done') await demand.consume('after', cause, signal);
  return outcome;
}
