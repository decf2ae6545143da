/**
 * A text with the secrets of URLs in it taken out: user and password, and the options after "?"
 * (which may carry a session token). For messages and logs.
 */
export const redactUrl = (text: string): string =>
  text.replaceAll(/:\/\/[^\s]*@/g, '://…@').replaceAll(/(:\/\/[^\s?]*)\?\S*/g, '$1?…');
