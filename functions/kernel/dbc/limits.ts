/**
 * How much of a DBC file is accepted. The largest files of production cars stay far below: about
 * 400 messages, 3,500 signals and 1 MiB; a diagnostic message multiplexed by PID has some 300 signals.
 */
export const MAX_DBC_BYTES = 16 * 1024 * 1024;
export const MAX_STATEMENT_CHARACTERS = 256 * 1024;
export const MAX_MESSAGES = 20_000;
export const MAX_SIGNALS_PER_MESSAGE = 4_096;
/** The longest transport-protocol message that a DBC describes (ISO 15765-2). A frame has 64 at most. */
export const MAX_MESSAGE_BYTES = 4_095;
export const MAX_NAME_CHARACTERS = 128;
/** Further faults are counted, not listed. */
export const MAX_LISTED_FAULTS = 1_000;
/** Each broken statement may cost a scan of MAX_STATEMENT_CHARACTERS, so their number is bounded. */
export const MAX_BROKEN_STATEMENTS = 10_000;
