import { expect, test } from 'vitest';
import { findRoute } from './gateway-route.ts';

const table = { namespaces: new Map([['campaign', 'tachograph']]) };

test.each([
  ['127.0.0.1:8080', '/campaign', '/'],
  ['127.0.0.1:8080', '/campaign/', '/'],
  ['127.0.0.1:8080', '/campaign?x=1', '/?x=1'],
  ['localhost', '/campaign/v1/x?y=/campaign', '/v1/x?y=/campaign'],
  ['localhost', '/campaign//double', '//double'],
  ['campaign.tachograph.svc.cluster.local', '/v1/x', '/v1/x'],
  ['campaign.tachograph.localhost:8080', '/campaign/v1', '/campaign/v1'],
  ['CAMPAIGN.Tachograph', '/', '/'],
])('findRoute of %s %s gives %s', (host, url, path) => {
  expect(findRoute(table, host, url)).toEqual({ service: 'campaign', path });
});

test.each([
  ['127.0.0.1', '/'],
  ['127.0.0.1', '/campaigns/x'],
  ['127.0.0.1', '/CAMPAIGN/x'],
  ['127.0.0.1', '/%63ampaign/x'],
  ['campaign.other.svc', '/x'],
  ['campaign', '/x'],
  ['', '/__proto__'],
  ['127.0.0.1', 'http://elsewhere/campaign'],
])('findRoute of %s %s finds nothing', (host, url) => {
  expect(findRoute(table, host, url)).toBeUndefined();
});
