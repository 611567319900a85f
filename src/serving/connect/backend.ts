import type { ClientRequest } from "node:http";
import type { Duplex } from "node:stream";
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
  /** Opens a connection without a socket. If omitted, a connection to the address is opened. */
  readonly connect?: () => Duplex;
}

/** A host and a port as Go's `net.JoinHostPort` prints them. */
export function joinHostPort(host: string, port: number | string): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

/**
 * Opens a request to the checked address of a backend. The caller writes and ends the body, and handles the response.
 */
export async function openBackend(
  client: HttpClient,
  { host, port, address, tls, connect }: Backend,
  { path, ...head }: Omit<OutgoingRequest, "tls"> & { readonly path: string },
): Promise<ClientRequest> {
  if (connect) {
    const { request: begin } = await import("node:http");
    return begin({ host, port, path, ...head, setDefaultHeaders: false, createConnection: connect });
  }
  const protocol = tls ? "https:" : "http:";
  const name = tls && tls.servername === undefined && !isAddress(host) ? { servername: host } : {};
  const request = { ...head, ...(tls && { tls: { ...tls, ...name } }), allowsHttp: true, isPassedOn: true };
  return client.open({ protocol, host: address, port, path }, request);
}
