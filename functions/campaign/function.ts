import { engineerAuth } from '#kernel/runtime/engineer-auth.ts';
import { takeRawBodies } from '#kernel/runtime/raw-bodies.ts';
import { DONE, type StageDefinition } from '#kernel/runtime/stage.ts';
import { campaignRoutes } from './campaign-routes.ts';
import { DecoderLibrary } from './decoder-library.ts';
import { decoderRoutes } from './decoder-routes.ts';
import { readRoutes } from './read-routes.ts';
import { tokenRoutes } from './token-routes.ts';
import type { RandomBytes } from './vehicle-tokens.ts';

export interface CampaignStageConfig {
  /** Hex SHA-256 of the engineers' token; without it the stage refuses to start. */
  readonly engineerTokenSha256: string;
  readonly randomBytes: RandomBytes;
}

/**
 * The engineers' API: decoders, campaigns and their states, vehicles' tokens. Consumes no events.
 */
export function createCampaignStage(config: CampaignStageConfig): StageDefinition {
  const auth = engineerAuth(config.engineerTokenSha256);
  return {
    name: 'campaign',
    consumes: [],
    handle: async () => DONE,
    routes: (app, context) => {
      app.addHook('onRequest', auth);
      // Whatever their content type says: curl sends one of its own by default.
      takeRawBodies(app);
      const library = new DecoderLibrary(context.store);
      decoderRoutes(app, context, library);
      campaignRoutes(app, context, library);
      readRoutes(app, context);
      tokenRoutes(app, context, config.randomBytes);
    },
  };
}
