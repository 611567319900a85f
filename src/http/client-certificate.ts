import { X509Certificate } from "node:crypto";
import type { DetailedPeerCertificate, TLSSocket } from "node:tls";

/** What is needed of a TLS connection; HTTP/2 sessions show their socket through a proxy. */
export type CertificateSource = Pick<TLSSocket, "getPeerCertificate">;

/** Longer chains have no sense; what is left out is as if it had not been sent. */
const MAX_CHAIN = 16;

const known = new WeakMap<object, readonly X509Certificate[]>();

/**
 * The certificates of a client, its own first, then those that signed it, as far as it sent them. Nobody has judged them;
 * only that the client has the key of the first is known. Empty when it presented none. Read once for each connection: the
 * same array for all its requests.
 */
export function certificateChainOf(connection: object, source: CertificateSource): readonly X509Certificate[] {
  let chain = known.get(connection);
  if (chain === undefined) {
    chain = readChain(source.getPeerCertificate(true));
    known.set(connection, chain);
  }
  return chain;
}

/** Only the detailed form knows who signed a certificate when the client did not send that one, too. */
function readChain(own: DetailedPeerCertificate): readonly X509Certificate[] {
  const chain: X509Certificate[] = [];
  // Without a certificate Node gives an empty object. A root names itself as its issuer.
  for (let next = own; next?.raw !== undefined && chain.length < MAX_CHAIN; next = next.issuerCertificate) {
    chain.push(new X509Certificate(next.raw));
    if (next.issuerCertificate === next) break;
  }
  return chain;
}
