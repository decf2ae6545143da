/** Where a replica takes requests: a unix socket, or a port of 127.0.0.1. */
export type ReplicaAddress = { readonly socketPath: string } | { readonly port: number };
