import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { MAX_BODY_BYTES, MAX_INFLATED_BYTES } from '#kernel/batch/batch-limits.ts';
import { TachographError } from '#kernel/core/errors.ts';
import { namePart } from '#kernel/core/ids.ts';
import { OneAtATime } from '#kernel/core/one-at-a-time.ts';
import { bodyBytes, takeRawBodies } from '#kernel/runtime/raw-bodies.ts';
import type { StageContext, StageDefinition } from '#kernel/runtime/stage.ts';
import { DONE } from '#kernel/runtime/stage.ts';
import { authenticateVehicle } from './authenticate-vehicle.ts';
import type { BudgetLimits } from './byte-budget.ts';
import { ByteBudget } from './byte-budget.ts';
import { CampaignBook } from './campaign-book.ts';
import { checkIn } from './check-in.ts';
import type { Reception, Upload } from './receive-batch.ts';
import { receiveBatch } from './receive-batch.ts';
import { batchRouteSchema, checkinRouteSchema } from './route-schemas.ts';
import { SessionBook } from './session-book.ts';

/**
 * Two bodies of the largest size at once, and many usual ones; 32 of the largest wait, or some
 * thousand small ones. The memory limit in service.yaml rests on it.
 */
const UPLOADS: BudgetLimits = {
  maxBytes: 2 * MAX_INFLATED_BYTES,
  maxWaitingBytes: 32 * MAX_BODY_BYTES,
};

type VehicleRequest = FastifyRequest<{ Params: { vehicle: string } }>;

/**
 * The face to the vehicles: check-in and upload. Emits `batch.stored.v1` and consumes no event: an
 * upload is one itself, but it is answered over HTTP, so that the vehicle knows what became of it.
 */
export function createDeviceCommunicationStage(uploads = UPLOADS): StageDefinition {
  return {
    name: 'device-communication',
    consumes: [],
    handle: () => Promise.resolve(DONE),
    routes: (app, context) => vehicleRoutes(app, context, uploads),
  };
}

function vehicleRoutes(app: FastifyInstance, context: StageContext, uploads: BudgetLimits): void {
  const { clock, store } = context;
  const campaigns = new CampaignBook(store, clock, context.log);
  const reception: Reception = {
    context,
    campaigns,
    sessions: new SessionBook(store, clock),
    budget: new ByteBudget(uploads),
    conflicts: new OneAtATime(),
  };
  // The routes' schemas describe the bodies, the codec checks them, field by field.
  takeRawBodies(app);
  // Before the body is read: who is not known costs no memory.
  app.addHook('onRequest', async (request: VehicleRequest, reply: FastifyReply) => {
    const vehicle = namePart(request.params.vehicle, 'vehicle');
    try {
      await authenticateVehicle(request.headers.authorization, vehicle, store, clock.nowMs());
    } catch (error) {
      if (error instanceof TachographError && error.status === 401) {
        void reply.header('www-authenticate', 'Bearer');
      }
      throw error;
    }
  });
  app.addHook('onError', async (request: VehicleRequest, _reply, error) => {
    const { vehicle } = request.params;
    context.log.warn('refused a request', { vehicle, path: request.url, code: error.code });
  });

  const batches = { schema: batchRouteSchema, bodyLimit: MAX_BODY_BYTES };
  app.post('/v1/vehicles/:vehicle/batches', batches, async (request: VehicleRequest, reply) => {
    const { duplicate, receipt } = await receiveBatch(uploadOf(request), reception);
    return reply.status(duplicate ? 200 : 201).send({ duplicate, receipt });
  });
  const checkins = { schema: checkinRouteSchema, bodyLimit: MAX_BODY_BYTES };
  app.post('/v1/vehicles/:vehicle/checkins', checkins, (request: VehicleRequest) =>
    checkIn(uploadOf(request), campaigns, context),
  );
}

const uploadOf = (request: VehicleRequest): Upload => ({
  vehicle: request.params.vehicle,
  headers: request.headers,
  body: bodyBytes(request),
});
