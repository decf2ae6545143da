import { VirtualClock } from '#kernel/core/clock.ts';
import { TachographError } from '#kernel/core/errors.ts';
import { serveStage } from '#kernel/runtime/testing/serve-stage.ts';
import type { Emission } from '#kernel/runtime/stage.ts';
import { memoryStore } from '#kernel/store/memory-store.ts';
import { silentLog } from '#kernel/system/log.ts';
import { sha256Hex } from '#kernel/system/sha256.ts';
import { createCampaignStage } from '../function.ts';
import { DBC_TEXT } from './dbc-text.ts';

const ENGINEER_TOKEN = 'the-engineers-token';
export const DBC_SHA256 = sha256Hex(DBC_TEXT);

/** The stage on a memory store, with a virtual clock and a sink that can be made to fail. */
export async function campaignApi() {
  const clock = new VirtualClock(Date.parse('2026-11-30T12:00:00Z'));
  const store = memoryStore();
  const emitted: Emission[] = [];
  const sink = { fails: false };
  let drawn = 0;
  const definition = createCampaignStage({
    engineerTokenSha256: sha256Hex(ENGINEER_TOKEN),
    randomBytes: (length) => new Uint8Array(length).fill(++drawn),
  });
  const app = await serveStage(definition, {
    clock,
    store,
    log: silentLog,
    software: 'tachograph/test',
    emit: async (emission) => {
      if (sink.fails) {
        throw new TachographError('EMIT_FAILED', { type: emission.name, detail: 'refused' });
      }
      emitted.push(emission);
    },
  });
  /** A request with the engineers' token; `body` as it is. */
  const call = async (method: 'GET' | 'POST' | 'DELETE', url: string, body?: string | Buffer) => {
    const headers = { authorization: `Bearer ${ENGINEER_TOKEN}` };
    const answer = await app.inject({
      method,
      url,
      headers: body === undefined ? headers : { ...headers, 'content-type': 'application/yaml' },
      ...(body === undefined ? {} : { payload: body }),
    });
    return { status: answer.statusCode, body: answer.body === '' ? null : answer.json(), answer };
  };
  return { app, call, clock, store, emitted, sink };
}

export type CampaignApi = Awaited<ReturnType<typeof campaignApi>>;
