/** Content type of the text exposition format. */
export const PROMETHEUS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';
