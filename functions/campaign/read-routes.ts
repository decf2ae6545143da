import type { FastifyInstance } from 'fastify';
import type { StageContext } from '#kernel/runtime/stage.ts';
import type { Store } from '#kernel/store/store.ts';
import { integerField } from '#kernel/runtime/integer-field.ts';
import { CAMPAIGN, errorAnswer, PAGE_QUERY, params, SECURITY } from './api-schemas.ts';
import { listCampaigns, newestVersion, oneVersion } from './campaign-versions.ts';
import { vehicleStates } from './vehicle-states.ts';

const MAX_VERSION = 999_999;

interface Page {
  readonly after?: string;
  readonly limit?: string;
}

/** What reads campaigns: the list, one, an older version, and how far the vehicles have come. */
export function readRoutes(app: FastifyInstance, { store }: StageContext): void {
  listRoutes(app, store);
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
}

function listRoutes(app: FastifyInstance, store: Store): void {
  app.get<{ Querystring: Page }>(
    '/v1/campaigns',
    {
      schema: {
        summary: 'List the campaigns, each in its newest version',
        querystring: PAGE_QUERY,
        security: SECURITY,
      },
    },
    (request) => campaignPage(store, request.query),
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
    (request) => vehiclePage(store, request.params.id, request.query),
  );
}

async function campaignPage(store: Store, query: Page) {
  const { after, limit } = pageOf(query);
  const facts = await listCampaigns(store, after, limit);
  const campaigns = facts.map(({ definition: { name, description, kind }, ...fact }) => ({
    ...fact,
    name,
    description,
    kind,
  }));
  return { campaigns, next: nextOf(campaigns.at(-1)?.campaign, campaigns.length, limit) };
}

async function vehiclePage(store: Store, id: string, query: Page) {
  const { after, limit } = pageOf(query);
  const campaign = await newestVersion(store, id);
  const vehicles = await vehicleStates(store, campaign, after, limit);
  return { vehicles, next: nextOf(vehicles.at(-1)?.vehicle, vehicles.length, limit) };
}

const pageOf = ({ after = '', limit }: Page) => ({
  after,
  limit: integerField('limit', limit, 100, [1, 500]),
});

/** What to give as `after` for the next page; null on a page that is not full. */
const nextOf = (last: string | undefined, length: number, limit: number): string | null =>
  length < limit ? null : (last ?? null);
