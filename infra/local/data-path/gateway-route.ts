/** Where a request goes: a Service, and the path it sees. */
export interface Route {
  readonly service: string;
  readonly path: string;
}

export interface RouteTable {
  /** Namespace of each Service. */
  readonly namespaces: ReadonlyMap<string, string>;
}

/**
 * Finds the Service by the Host header (`campaign.tachograph.svc.cluster.local`, also
 * `campaign.tachograph.localhost:8080`), else by the first segment of the path, which is then taken
 * off: `/campaign/v1/campaigns?x=1` is `/v1/campaigns?x=1` of the Service `campaign`.
 *
 * Undefined when neither names a Service; `wanted` in the answer of `routeName` says what was asked.
 */
export function findRoute(table: RouteTable, host: string, url: string): Route | undefined {
  const [label = '', namespace = ''] = host.toLowerCase().replace(/:\d+$/, '').split('.');
  if (table.namespaces.get(label) === namespace) return { service: label, path: url };
  const service = routeName(url);
  if (!table.namespaces.has(service)) return undefined;
  const rest = url.slice(service.length + 1);
  return { service, path: rest.startsWith('/') ? rest : `/${rest}` };
}

/** The first segment of a path, as written. */
export const routeName = (url: string): string => /^\/([^/?#]*)/.exec(url)?.[1] ?? '';
