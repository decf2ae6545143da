/**
 * The campaign of a run with emulated batches, as JSON, which YAML is too. It decodes nothing and
 * is meant for the run's own vehicles alone, so that no other vehicle is told to record for it.
 */
export const emulatedCampaign = (id: string, vehicles: readonly string[]): string =>
  JSON.stringify({
    id,
    name: 'Emulated load',
    description: 'Batches without frames, to study the platform without vehicle data',
    kind: 'fleet',
    target: { vehicles },
    rawFrames: 'all',
    upload: { everyMs: 1_000 },
    export: { formats: ['csv'] },
  });
