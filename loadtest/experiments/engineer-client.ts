import { request } from 'undici';
import { TachographError } from '#kernel/core/errors.ts';
import type { CampaignFact } from '#kernel/facts/campaign.ts';

/** The engineer's REST client: what one does by hand before vehicles may record. */
export interface EngineerClient {
  /** Stores a DBC file under its SHA-256. */
  addDecoder(name: string, bytes: Uint8Array): Promise<void>;
  /** Creates a campaign of its YAML text, approves and starts it. */
  runCampaign(text: string): Promise<StartedCampaign>;
  /** Ends a campaign: nothing more is recorded for it. */
  endCampaign(id: string): Promise<void>;
  /** A bearer token for the vehicle. */
  issueToken(vehicle: string): Promise<string>;
}

export interface StartedCampaign extends CampaignFact {
  /** What a vehicle makes of it, as the service reckons. */
  readonly estimate: {
    readonly framesPerS: number;
    readonly samplesPerS: number;
    readonly uploadBytesPerS: number;
    readonly storedBytesPerHour: number;
  } | null;
}

interface Call {
  readonly path: string;
  readonly contentType?: string;
  readonly body?: string | Uint8Array;
}

const TIMEOUT_MS = 30_000;

/** `serviceUrl` is the campaign Service's. Every call throws API_REFUSED with the answer's message. */
export function engineerClient(
  serviceUrl: string,
  token: string,
  signal: AbortSignal,
): EngineerClient {
  const post = async ({ path, contentType, body }: Call): Promise<unknown> => {
    const answer = await request(`${serviceUrl}${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        ...(contentType === undefined ? {} : { 'content-type': contentType }),
      },
      ...(body === undefined ? {} : { body }),
      headersTimeout: TIMEOUT_MS,
      bodyTimeout: TIMEOUT_MS,
      signal,
    });
    const text = await answer.body.text();
    if (answer.statusCode >= 200 && answer.statusCode < 300) return JSON.parse(text) as unknown;
    throw new TachographError('API_REFUSED', {
      path,
      status: answer.statusCode,
      detail: messageOf(text),
    });
  };
  return {
    addDecoder: async (name, bytes) => {
      const path = `/v1/decoders?name=${encodeURIComponent(name)}`;
      await post({ path, contentType: 'application/octet-stream', body: bytes });
    },
    runCampaign: async (text) => {
      const body = { contentType: 'application/yaml', body: text };
      const created = (await post({ path: '/v1/campaigns', ...body })) as StartedCampaign;
      const id = encodeURIComponent(created.campaign);
      await post({ path: `/v1/campaigns/${id}/approve` });
      const started = (await post({ path: `/v1/campaigns/${id}/start` })) as CampaignFact;
      return { ...started, estimate: created.estimate };
    },
    endCampaign: async (campaign) => {
      await post({ path: `/v1/campaigns/${encodeURIComponent(campaign)}/end` });
    },
    issueToken: async (vehicle) => {
      const path = `/v1/vehicles/${encodeURIComponent(vehicle)}/tokens`;
      const issued = (await post({ path })) as { readonly token: string };
      return issued.token;
    },
  };
}

/** What an error answer says, or its text where it says nothing we know. */
function messageOf(text: string): string {
  try {
    const { error } = JSON.parse(text) as { error?: { message?: unknown } };
    if (typeof error?.message === 'string') return error.message;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  return text;
}
