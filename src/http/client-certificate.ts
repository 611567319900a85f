import type { PeerCertificate, TLSSocket } from "node:tls";
import type { ApiRequest } from "../api/call.ts";

/** The subject of a client's certificate. */
export type ClientCertificate = NonNullable<ApiRequest["clientCertificate"]>;

/** What is needed of a TLS connection; HTTP/2 sessions show their socket through a proxy. */
export type CertificateSource = Pick<TLSSocket, "authorized" | "getPeerCertificate">;

const known = new WeakMap<object, ClientCertificate | "none">();

/** The subject of the certificate that a client presented, if our client authority signed it. Read once per connection. */
export function clientCertificateOf(connection: object, source: CertificateSource): ClientCertificate | undefined {
  let certificate = known.get(connection);
  if (certificate === undefined) {
    certificate = source.authorized ? readSubject(source.getPeerCertificate()) : "none";
    known.set(connection, certificate);
  }
  return certificate === "none" ? undefined : certificate;
}

function readSubject(certificate: PeerCertificate): ClientCertificate | "none" {
  // Without a certificate Node gives an empty object.
  const subject: { CN?: string | string[]; O?: string | string[] } | undefined = certificate.subject;
  if (subject?.CN === undefined) return "none";
  return { commonName: listOf(subject.CN)[0] ?? "", organizations: listOf(subject.O) };
}

function listOf(value: string | string[] | undefined): readonly string[] {
  return value === undefined ? [] : typeof value === "string" ? [value] : value;
}
