import { X509Certificate } from "node:crypto";
import type { DetailedPeerCertificate, TLSSocket } from "node:tls";

/** The part of a TLS connection that is used here. HTTP/2 sessions expose their socket through a proxy. */
export type CertificateSource = Pick<TLSSocket, "getPeerCertificate">;

/** Longer chains are cut off; the remaining certificates are ignored. */
const MAX_CHAIN = 16;

const known = new WeakMap<object, readonly X509Certificate[]>();

/**
 * The certificate chain that a client sent, its own certificate first. It is not verified, except that the client has
 * the key of the first certificate. Empty if the client sent none. Cached per connection: all its requests get the same
 * array.
 */
export function certificateChainOf(connection: object, source: CertificateSource): readonly X509Certificate[] {
  let chain = known.get(connection);
  if (chain === undefined) {
    chain = readChain(source.getPeerCertificate(true));
    known.set(connection, chain);
  }
  return chain;
}

/** Only the detailed form contains the issuer of a certificate if the client did not send it. */
function readChain(own: DetailedPeerCertificate): readonly X509Certificate[] {
  const chain: X509Certificate[] = [];
  // Without a certificate Node returns an empty object. A root certificate is its own issuer.
  for (let next = own; next?.raw !== undefined && chain.length < MAX_CHAIN; next = next.issuerCertificate) {
    chain.push(new X509Certificate(next.raw));
    if (next.issuerCertificate === next) break;
  }
  return chain;
}
