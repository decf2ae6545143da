import type { ErrorCode } from '#kernel/core/errors.ts';

import { bitLayout } from './bit-layout.ts';
import type { FaultList } from './fault-list.ts';
import { MAX_MESSAGE_BYTES, MAX_MESSAGES, MAX_SIGNALS_PER_MESSAGE } from './limits.ts';
import { TachographError } from '#kernel/core/errors.ts';
import type {
  Labels,
  MessageStatement,
  MultiplexStatement,
  SignalStatement,
  Statement,
} from './statements.ts';

const EXTENDED_FLAG = 0x8000_0000;
const MAX_STANDARD_ID = 0x7ff;

/** Vector's container for signals without a message. */
const INDEPENDENT_SIGNALS_ID = 0xc000_0000;
