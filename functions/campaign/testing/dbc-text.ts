import { parseDbc } from '#kernel/dbc/parse-dbc.ts';
import type { Database } from '#kernel/dbc/model.ts';

/** Two messages: Motion (100 ms, two signals) and Lamps (no cycle time, one signal). */
export const DBC_TEXT = `VERSION ""
BU_: ECU
BO_ 100 Motion: 8 ECU
 SG_ Speed : 0|16@1+ (0.01,0) [0|250] "km/h" ECU
 SG_ YawRate : 16|16@1- (0.1,0) [-200|200] "deg/s" ECU
BO_ 200 Lamps: 1 ECU
 SG_ Blinker : 0|2@1+ (1,0) [0|3] "" ECU
BA_DEF_ BO_ "GenMsgCycleTime" INT 0 10000;
BA_DEF_DEF_ "GenMsgCycleTime" 0;
BA_ "GenMsgCycleTime" BO_ 100 100;
`;

export const testDatabase = (): Database => parseDbc(new TextEncoder().encode(DBC_TEXT));
