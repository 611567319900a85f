import net from "node:net";
import tls from "node:tls";
import type { ConnectOptions } from "./transport.ts";

/** Starts to connect; with TLS, the server must prove its name and HTTP/2 is asked for. */
export function openSocket(options: ConnectOptions): net.Socket {
  const { url, tls: material = {} } = options;
  const host = url.hostname.replace(/^\[|\]$/g, "");
  if (url.protocol !== "https:") return net.connect({ host, port: Number(url.port || 80), noDelay: true });
  const socket = tls.connect({
    host,
    port: Number(url.port || 443),
    ca: material.ca,
    cert: material.certificate,
    key: material.key,
    servername: net.isIP(host) === 0 ? host : undefined,
    ALPNProtocols: ["h2"],
  });
  return socket.setNoDelay(true);
}
