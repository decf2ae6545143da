/** DBC statements as read, before names are looked up. `offset` is where each begins in the text. */

import type { Labels } from './model.ts';

interface Placed {
  readonly offset: number;
}

/** `BO_ id name: length transmitter`. The id still carries bit 31, the mark of an extended one. */
export interface MessageStatement extends Placed {
  readonly kind: 'message';
  readonly rawId: number;
  readonly name: string;
  readonly byteLength: number;
  readonly transmitter: string;
}

/** Signals that follow belong to a message that could not be read. */
interface LostMessageStatement extends Placed {
  readonly kind: 'lostMessage';
}

/** `SG_ name [M|m3|m3M] : start|length@order sign (factor,offset) [min|max] "unit" receivers`. */
export interface SignalStatement extends Placed {
  readonly kind: 'signal';
  readonly name: string;
  readonly isSelector: boolean;
  /** The number after `m`. */
  readonly page: number | undefined;
  readonly startBit: number;
  readonly bitLength: number;
  readonly byteOrder: 'intel' | 'motorola';
  readonly signed: boolean;
  readonly factor: number;
  readonly addend: number;
  readonly min: number;
  readonly max: number;
  readonly unit: string;
}

/** What a comment or an attribute is about; `other` is a node, a variable or the file. */
export type Target =
  | { readonly kind: 'message'; readonly rawId: number }
  | { readonly kind: 'signal'; readonly rawId: number; readonly signal: string }
  | { readonly kind: 'other' };

export interface CommentStatement extends Placed {
  readonly kind: 'comment';
  readonly target: Target;
  readonly text: string;
}

/** `VAL_TABLE_ name 0 "a" 1 "b";` */
export interface LabelTableStatement extends Placed {
  readonly kind: 'labelTable';
  readonly name: string;
  readonly labels: Labels;
}

/** `VAL_ id signal 0 "a" 1 "b";` or, by the name of a table, `VAL_ id signal table;`. */
export interface LabelsStatement extends Placed {
  readonly kind: 'labels';
  readonly rawId: number;
  readonly signal: string;
  readonly labels: Labels | string;
}

/** `SIG_VALTYPE_ id signal : 1;` */
export interface ValueTypeStatement extends Placed {
  readonly kind: 'valueType';
  readonly rawId: number;
  readonly signal: string;
  readonly valueType: 'integer' | 'float32' | 'float64';
}

/** `SG_MUL_VAL_ id signal selector 1-3, 7-7;` */
export interface MultiplexStatement extends Placed {
  readonly kind: 'multiplex';
  readonly rawId: number;
  readonly signal: string;
  readonly selector: string;
  readonly ranges: readonly (readonly [first: number, last: number])[];
}

/** `BA_DEF_ BO_ "VFrameFormat" ENUM "StandardCAN","ExtendedCAN";` Only the enum's texts are kept. */
export interface AttributeDefinitionStatement extends Placed {
  readonly kind: 'attributeDefinition';
  readonly name: string;
  readonly choices: readonly string[];
}

/** `BA_DEF_DEF_ "GenMsgCycleTime" 100;` */
export interface AttributeDefaultStatement extends Placed {
  readonly kind: 'attributeDefault';
  readonly name: string;
  readonly value: number | string;
}

/** `BA_ "GenMsgCycleTime" BO_ 36 100;` */
export interface AttributeStatement extends Placed {
  readonly kind: 'attribute';
  readonly name: string;
  readonly target: Target;
  readonly value: number | string;
}

interface VersionStatement extends Placed {
  readonly kind: 'version';
  readonly version: string;
}

/** Right, but of no use to a decoder: nodes, environment variables, signal groups … */
export interface UnusedStatement extends Placed {
  readonly kind: 'unused';
}

export type Statement =
  | VersionStatement
  | MessageStatement
  | LostMessageStatement
  | SignalStatement
  | CommentStatement
  | LabelTableStatement
  | LabelsStatement
  | ValueTypeStatement
  | MultiplexStatement
  | AttributeDefinitionStatement
  | AttributeDefaultStatement
  | AttributeStatement
  | UnusedStatement;
