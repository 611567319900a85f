import net from "node:net";
import tls from "node:tls";
import type { ConnectOptions } from "./transport.ts";

/**
 * Starts to connect. With TLS, the server certificate is verified and HTTP/2 is requested by ALPN. With `onread`,
 * received bytes go there and no "data" event is emitted.
 */
export function openSocket(options: ConnectOptions, onread?: net.OnReadOpts): net.Socket {
  const { url, tls: material = {} } = options;
  const own = onread && { onread };
  const host = url.hostname.replace(/^\[|\]$/g, "");
  if (url.protocol !== "https:") return net.connect({ host, port: Number(url.port || 80), noDelay: true, ...own });
  const socket = tls.connect({
    host,
    port: Number(url.port || 443),
    ca: material.ca,
    // Compat: Go's x509 trusts every certificate of `--etcd-cafile`, even if it is not a CA.
    allowPartialTrustChain: true,
    cert: material.certificate,
    key: material.key,
    servername: net.isIP(host) === 0 ? host : undefined,
    ALPNProtocols: ["h2"],
    ...own,
  });
  return socket.setNoDelay(true);
}
