import { namePart, timePart } from '../core/ids.ts';

/** How far a vehicle has come with one campaign, in its own words. */
export const REPORTED_STATES = ['enacted', 'recording', 'done', 'failed'] as const;

type ReportedState = (typeof REPORTED_STATES)[number];

export interface CampaignReport {
  readonly campaign: string;
  readonly version: number;
  readonly definitionSha256: string;
  readonly state: ReportedState;
  /** Why it failed. */
  readonly reason?: string;
}

/** What a vehicle says: the whole list of campaigns it has enacted, not only what changed. */
export interface CheckinReport {
  readonly software?: string;
  readonly campaigns: readonly CampaignReport[];
  readonly clock?: {
    readonly monotonicUs: number;
    readonly wallUs: number;
    readonly source: string;
  };
}

export interface ToldCampaign {
  readonly campaign: string;
  readonly version: number;
  readonly definitionSha256: string;
}

/** `checkins`: what the vehicle said and was told. */
export interface CheckinFact {
  readonly vehicle: string;
  /** When it was received, wall clock of the service. */
  readonly atMs: number;
  readonly said: CheckinReport;
  readonly told: readonly ToldCampaign[];
}

/** `checkins`: `veh-1/2026-11-30T22.43.01.123Z`. */
export const checkinId = (vehicle: string, atMs: number): string =>
  `${namePart(vehicle, 'vehicle')}/${timePart(atMs)}`;
