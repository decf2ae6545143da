import type { Answer } from './upload-verdict.ts';
import type { UploadRequest } from './upload-request.ts';
import type { CampaignReport } from './vehicle.ts';

/** The network as a vehicle sees it. Both reject when the connection is refused, reset or times out. */
export interface VehicleTransport {
  checkIn(vehicle: string, report: CampaignReport | null, signal: AbortSignal): Promise<Answer>;
  upload(request: UploadRequest, signal: AbortSignal): Promise<Answer>;
}
