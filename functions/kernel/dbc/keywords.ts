/** Every word that starts a DBC statement. A line that begins with one is where reading resumes. */
export const KEYWORDS: ReadonlySet<string> = new Set([
  'VERSION',
  'NS_',
  'BS_',
  'BU_',
  'BO_',
  'SG_',
  'CM_',
  'VAL_',
  'VAL_TABLE_',
  'SIG_VALTYPE_',
  'SG_MUL_VAL_',
  'BA_',
  'BA_DEF_',
  'BA_DEF_DEF_',
  'BA_REL_',
  'BA_DEF_REL_',
  'BA_DEF_DEF_REL_',
  'BA_SGTYPE_',
  'BA_DEF_SGTYPE_',
  'BO_TX_BU_',
  'BU_SG_REL_',
  'BU_EV_REL_',
  'BU_BO_REL_',
  'CAT_',
  'CAT_DEF_',
  'EV_',
  'EV_DATA_',
  'ENVVAR_DATA_',
  'FILTER',
  'NS_DESC_',
  'SIG_GROUP_',
  'SIG_TYPE_REF_',
  'SIGTYPE_VALTYPE_',
  'SGTYPE_',
  'SGTYPE_VAL_',
]);

// Bounded, since an unbounded match on a file of blanks costs the expression engine its stack.
const BLANKS = String.raw`\s{1,100}`;
const MAY_BE_BLANKS = String.raw`\s{0,100}`;
const NAME = String.raw`\w{1,128}`;

/** `BO_ 36 Motion :`, with the name in a group. */
const MESSAGE_HEAD = `BO_${BLANKS}\\d{1,10}${BLANKS}(${NAME})${MAY_BE_BLANKS}:`;

/** What a comment may be of; without any of them it is of the file. */
const COMMENTED = [
  `BO_${BLANKS}\\d{1,10}`,
  `SG_${BLANKS}\\d{1,10}${BLANKS}${NAME}`,
  `(?:BU|EV)_${BLANKS}${NAME}`,
];

/**
 * How a statement that is of use begins. A keyword alone may be a name (`NS_` lists them all, and a
 * node may be called FILTER); with what follows it here it can only be the statement, wherever it is.
 */
const HEADS = [
  MESSAGE_HEAD,
  `VERSION${MAY_BE_BLANKS}"`,
  `(?:NS|BS|BU)_${MAY_BE_BLANKS}:`,
  `SG_${BLANKS}${NAME}(?:${BLANKS}(?:M|m\\d{1,15}M?))?${MAY_BE_BLANKS}:${MAY_BE_BLANKS}\\d`,
  `CM_(?:${MAY_BE_BLANKS}|${BLANKS}(?:${COMMENTED.join('|')})${MAY_BE_BLANKS})"`,
  `(?:VAL|SIG_VALTYPE|SG_MUL_VAL)_${BLANKS}\\d`,
  `VAL_TABLE_${BLANKS}${NAME}(?:${MAY_BE_BLANKS};|${BLANKS}[-+.\\w]{1,40}${MAY_BE_BLANKS}")`,
  `BA_(?:DEF_DEF_)?${MAY_BE_BLANKS}"`,
  `BA_DEF_${MAY_BE_BLANKS}(?:(?:BU|BO|SG|EV)_${MAY_BE_BLANKS})?"`,
];

/** Sticky: whether such a statement begins here. */
export const STATEMENT_HEAD = new RegExp(`(?<!\\w)(?:${HEADS.join('|')})`, 'y');

/** Every head of a message in a text. */
export const messageHeads = (text: string): { readonly at: number; readonly name: string }[] =>
  [...text.matchAll(new RegExp(`(?<!\\w)${MESSAGE_HEAD}`, 'g'))].map(({ index, 1: name }) => ({
    at: index,
    name: name ?? '',
  }));
