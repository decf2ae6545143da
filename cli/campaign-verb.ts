import { TachographError } from '#kernel/core/errors.ts';
import { engineerClient, type EngineerClient } from '#loadtest/experiments/engineer-client.ts';
import { loadCampaignFile } from './campaign-file.ts';
import { engineerToken } from './engineer-token.ts';
import { readLocalState } from './local-state.ts';
import type { Verb, VerbContext } from './verb.ts';

/** `tachograph campaign`: what an engineer does before vehicles may record, at the running pipeline. */
export const campaignVerb: Verb = {
  name: 'campaign',
  summary: 'starts a campaign at the running pipeline, or issues a token of a vehicle',
  details: [
    'start FILE     sends the decoders that the file names, creates the campaign, approves and starts it',
    'token VEHICLE  prints a new bearer token of the vehicle; it is shown this once',
  ],
  options: {},
  operands: { text: 'start FILE | token VEHICLE', max: 2 },
  async run(context) {
    const [action, subject] = context.operands;
    if (subject !== undefined && action === 'start') return start(subject, context);
    if (subject !== undefined && action === 'token') return token(subject, context);
    context.terminal.note(
      'Use "npx tachograph campaign start FILE" or "npx tachograph campaign token VEHICLE".',
    );
    return 2;
  },
};

async function client({ home, signal }: VerbContext): Promise<EngineerClient> {
  const state = await readLocalState(home);
  if (state === undefined) throw new TachographError('PIPELINE_NOT_RUNNING');
  const { token } = await engineerToken(home);
  return engineerClient(`${state.gatewayUrl}/campaign`, token, signal);
}

async function start(path: string, context: VerbContext): Promise<number> {
  const file = await loadCampaignFile(path);
  const engineer = await client(context);
  for (const { name, bytes } of file.decoders) await engineer.addDecoder(name, bytes);
  const { campaign, version, state, estimate } = await engineer.runCampaign(file.text);
  context.terminal.document({ campaign, version, state, estimate });
  context.terminal.print(`campaign ${campaign}, version ${version}: ${state}`);
  if (estimate !== null) {
    const { framesPerS, samplesPerS, uploadBytesPerS, storedBytesPerHour } = estimate;
    context.terminal.print(
      `estimate of a vehicle: ${framesPerS} frames/s, ${samplesPerS} values/s, ` +
        `${uploadBytesPerS} bytes/s sent, ${storedBytesPerHour} bytes stored an hour`,
    );
  }
  return 0;
}

async function token(vehicle: string, context: VerbContext): Promise<number> {
  const issued = await (await client(context)).issueToken(vehicle);
  context.terminal.document({ vehicle, token: issued });
  context.terminal.print(issued);
  return 0;
}
