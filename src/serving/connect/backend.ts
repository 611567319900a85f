import type { ClientRequest } from "node:http";
import type { ClientTls, HttpClient, OutgoingRequest } from "../../base/net/http-client.ts";
import { isAddress } from "./addresses.ts";

/** The target of a proxied request: a single address that has been checked. */
export interface Backend {
  /** Its host name or address, for TLS and messages. */
  readonly host: string;
  readonly port: number;
  /** The address that `host` was resolved to, once. */
  readonly address: string;
  /** Optional. If omitted, plain HTTP. */
  readonly tls?: ClientTls;
}

/** A host and a port as Go's `net.JoinHostPort` prints them. */
export function joinHostPort(host: string, port: number | string): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

/**
 * Opens a request to the checked address of a backend. The caller writes and ends the body, and handles the response.
 */
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
