import type { FastifyInstance, FastifyReply } from 'fastify';
import { errorBody, TachographError } from '#kernel/core/errors.ts';
import type { StageContext } from '#kernel/runtime/stage.ts';
import {
  CAMPAIGN,
  CAMPAIGN_INPUT,
  CHECKED,
  ESTIMATE,
  errorAnswer,
  FAULTS_ANSWER,
  PAGE_QUERY,
  params,
  SECURITY,
  YAML_OR_JSON,
} from './api-schemas.ts';
import {
  changeState,
  createDraft,
  listCampaigns,
  newestVersion,
  oneVersion,
} from './campaign-versions.ts';
import { checkCampaign, type CheckedCampaign } from './check-campaign.ts';
import type { DecoderLibrary } from './decoder-library.ts';
import { integerField, requiredBody } from './route-input.ts';
import { ACTIONS } from './transitions.ts';
import { vehicleStates } from './vehicle-states.ts';

const EXPECTED = 'a campaign in YAML or JSON';
const MAX_VERSION = 999_999;

interface Page {
  readonly after?: string;
  readonly limit?: string;
}

const pageOf = ({ after = '', limit }: Page) => ({
  after,
  limit: integerField('limit', limit, 100, [1, 500]),
});

/** `/v1/campaigns…` */
export function campaignRoutes(
  app: FastifyInstance,
  context: StageContext,
  library: DecoderLibrary,
): void {
  createRoutes(app, context, library);
  readRoutes(app, context);
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
    async (request) => {
      const bytes = requiredBody(request, EXPECTED);
      const checked = await checkCampaign(bytes, library, context.clock.nowMs());
      const { faults, faultCount, estimate } = checked;
      return { valid: faultCount === 0, faults, faultCount, estimate };
    },
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
    async (request, reply) => {
      const bytes = requiredBody(request, EXPECTED);
      const checked = await checkCampaign(bytes, library, context.clock.nowMs());
      if (checked.faultCount > 0) return refuse(reply, checked);
      const { fact, created } = await createDraft(checked, context);
      return reply.status(created ? 201 : 200).send({ ...fact, estimate: checked.estimate });
    },
  );
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

function readRoutes(app: FastifyInstance, { store }: StageContext): void {
  app.get<{ Querystring: Page }>(
    '/v1/campaigns',
    {
      schema: {
        summary: 'List the campaigns, each in its newest version',
        querystring: PAGE_QUERY,
        security: SECURITY,
      },
    },
    async (request) => {
      const { after, limit } = pageOf(request.query);
      const facts = await listCampaigns(store, after, limit);
      const campaigns = facts.map(({ definition: { name, description, kind }, ...fact }) => ({
        ...fact,
        name,
        description,
        kind,
      }));
      return {
        campaigns,
        next: nextOf(
          campaigns.map(({ campaign }) => campaign),
          limit,
        ),
      };
    },
  );
  app.get<{ Params: { id: string } }>(
    '/v1/campaigns/:id',
    {
      schema: {
        summary: 'The newest version of a campaign',
        params: params('id'),
        security: SECURITY,
        response: { 200: CAMPAIGN, 404: errorAnswer('Unknown') },
      },
    },
    (request) => newestVersion(store, request.params.id),
  );
  app.get<{ Params: { id: string; version: string } }>(
    '/v1/campaigns/:id/versions/:version',
    {
      schema: {
        summary: 'One version of a campaign',
        params: params('id', 'version'),
        security: SECURITY,
        response: { 200: CAMPAIGN, 404: errorAnswer('Unknown') },
      },
    },
    (request) => {
      const { id, version } = request.params;
      return oneVersion(store, id, integerField('version', version, undefined, [1, MAX_VERSION]));
    },
  );
  app.get<{ Params: { id: string }; Querystring: Page }>(
    '/v1/campaigns/:id/vehicles',
    {
      schema: {
        summary: 'How far each vehicle has come with a campaign',
        description: 'pending → delivered → enacted → recording → done | failed (with its reason)',
        params: params('id'),
        querystring: PAGE_QUERY,
        security: SECURITY,
      },
    },
    async (request) => {
      const { after, limit } = pageOf(request.query);
      const campaign = await newestVersion(store, request.params.id);
      const vehicles = await vehicleStates(store, campaign, after, limit);
      return {
        vehicles,
        next: nextOf(
          vehicles.map(({ vehicle }) => vehicle),
          limit,
        ),
      };
    },
  );
}

/** What to give as `after` for the next page; null on a page that is not full. */
const nextOf = (names: readonly string[], limit: number): string | null =>
  names.length < limit ? null : (names.at(-1) ?? null);
