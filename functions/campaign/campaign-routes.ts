import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { errorBody, TachographError } from '#kernel/core/errors.ts';
import type { StageContext } from '#kernel/runtime/stage.ts';
import {
  CAMPAIGN,
  CAMPAIGN_INPUT,
  CHECKED,
  ESTIMATE,
  errorAnswer,
  FAULTS_ANSWER,
  params,
  SECURITY,
  YAML_OR_JSON,
} from './api-schemas.ts';
import { changeState, createDraft } from './campaign-versions.ts';
import { checkCampaign, type CheckedCampaign } from './check-campaign.ts';
import type { DecoderLibrary } from './decoder-library.ts';
import { requiredBody } from './route-input.ts';
import { ACTIONS } from './transitions.ts';

const EXPECTED = 'a campaign in YAML or JSON';
/** What changes campaigns: create, validate, and the actions on their states. */
export function campaignRoutes(
  app: FastifyInstance,
  context: StageContext,
  library: DecoderLibrary,
): void {
  createRoutes(app, context, library);
  for (const action of ACTIONS) {
    app.post<{ Params: { id: string } }>(
      `/v1/campaigns/:id/${action}`,
      {
        schema: {
          summary: `${action[0]?.toUpperCase()}${action.slice(1)} a campaign`,
          description: 'A new version with the next state. Repeating it changes nothing.',
          params: params('id'),
          security: SECURITY,
          response: { 200: CAMPAIGN, 404: errorAnswer('Unknown'), 409: errorAnswer('Not now') },
        },
      },
      (request) => changeState(request.params.id, action, context),
    );
  }
}

function createRoutes(app: FastifyInstance, context: StageContext, library: DecoderLibrary): void {
  const input = { consumes: YAML_OR_JSON, body: CAMPAIGN_INPUT, security: SECURITY };
  app.post(
    '/v1/campaigns/validate',
    {
      schema: {
        ...input,
        summary: 'Judge a campaign without keeping it',
        response: { 200: CHECKED },
      },
    },
    (request) => validate(request, context, library),
  );
  const created = { ...CAMPAIGN, properties: { ...CAMPAIGN.properties, estimate: ESTIMATE } };
  app.post(
    '/v1/campaigns',
    {
      schema: {
        ...input,
        summary: 'Create a campaign, or the next version of a draft',
        response: {
          200: { ...created, description: 'An equal draft is there already' },
          201: { ...created, description: 'Kept as a draft' },
          409: errorAnswer('No longer a draft'),
          422: FAULTS_ANSWER,
        },
      },
    },
    (request, reply) => create(request, reply, context, library),
  );
}

async function validate(request: FastifyRequest, context: StageContext, library: DecoderLibrary) {
  const bytes = requiredBody(request, EXPECTED);
  const checked = await checkCampaign(bytes, library, context.clock.nowMs());
  const { faults, faultCount, estimate } = checked;
  return { valid: faultCount === 0, faults, faultCount, estimate };
}

async function create(
  request: FastifyRequest,
  reply: FastifyReply,
  context: StageContext,
  library: DecoderLibrary,
): Promise<FastifyReply> {
  const bytes = requiredBody(request, EXPECTED);
  const checked = await checkCampaign(bytes, library, context.clock.nowMs());
  if (checked.faultCount > 0) return refuse(reply, checked);
  const { fact, created } = await createDraft(checked, context);
  return reply.status(created ? 201 : 200).send({ ...fact, estimate: checked.estimate });
}

function refuse(reply: FastifyReply, { faults, faultCount }: CheckedCampaign): FastifyReply {
  const [first] = faults;
  const place = first?.line === null ? '' : `line ${first?.line}, column ${first?.column}: `;
  const error = new TachographError('CAMPAIGN_INVALID', {
    count: faultCount,
    first: `${place}${first?.message}`,
  });
  return reply.status(error.status).send({ ...errorBody(error), faults });
}
