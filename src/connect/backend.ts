import type { ClientRequest } from "node:http";
import type { ClientTls, HttpClient, OutgoingRequest } from "../client/http-client.ts";
import { isAddress } from "./addresses.ts";

/** Where a request is passed on to: one address, which was judged before. */
export interface Backend {
  /** The name or address by which it is known; TLS and messages go by it. */
  readonly host: string;
  readonly port: number;
  /** What `host` was resolved to, once. */
  readonly address: string;
  /** Absent: plain HTTP. */
  readonly tls?: ClientTls;
}

/** A host and a port as Go's `net.JoinHostPort` prints them. */
export function joinHostPort(host: string, port: number | string): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

/** Begins a request to a backend, by the address that was judged. Whoever calls this writes the body, ends it and listens. */
export function openBackend(
  client: HttpClient,
  { host, port, address, tls }: Backend,
  { path, ...head }: Omit<OutgoingRequest, "tls"> & { readonly path: string },
): Promise<ClientRequest> {
  const protocol = tls ? "https:" : "http:";
  const name = tls && tls.servername === undefined && !isAddress(host) ? { servername: host } : {};
  const request = { ...head, ...(tls && { tls: { ...tls, ...name } }), allowsHttp: true, isPassedOn: true };
  return client.open({ protocol, host: address, port, path }, request);
}
