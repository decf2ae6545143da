import type { FrameKind } from '../batch/batch.ts';

/** One frame as a log tells it. */
export interface CanFrame {
  /**
   * µs: of the day's epoch, of the log's start or since the frame before, as the log was written.
   */
  readonly timeUs: number;
  /** Name of the interface, such as `can0`. */
  readonly bus: string;
  /** 11 or 29 bits, without the flag bit; 0 for error frames. */
  readonly id: number;
  readonly extended: boolean;
  readonly kind: FrameKind;
  /** Empty for remote and error frames. */
  readonly data: Uint8Array;
  /** The flags nibble of an FD frame (1 = bit rate switch, 2 = error state indicator), else 0. */
  readonly fdFlags: number;
  /** The length a remote frame asks for, else 0. */
  readonly requestedLength: number;
  /** What an error frame reports (the 29 error class bits of SocketCAN), else 0. */
  readonly errorClass: number;
}

/** The payload lengths CAN FD knows. */
const FD_LENGTHS: ReadonlySet<number> = new Set([
  0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20, 24, 32, 48, 64,
]);

export const MAX_CLASSIC_LENGTH = 8;
export const MAX_FD_LENGTH = 64;
export const MAX_BASE_ID = 0x7ff;
export const MAX_EXTENDED_ID = 0x1fff_ffff;

export const isFdLength = (length: number): boolean => FD_LENGTHS.has(length);
