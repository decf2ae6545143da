import { decodeHeaderValue } from '../contracts/header-value.ts';

/**
 * Whether an event, given by its binary-mode headers, has exactly the attributes a Trigger asks for.
 * An empty value in the filter asks only that the attribute is there, as in Knative.
 */
export function passesFilter(
  filter: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>>,
): boolean {
  for (const name in filter) {
    const header = name === 'datacontenttype' ? 'content-type' : `ce-${name}`;
    const raw = headers[header];
    if (raw === undefined) return false;
    const wanted = filter[name];
    if (wanted !== '' && decodeHeaderValue(header, raw) !== wanted) return false;
  }
  return true;
}
