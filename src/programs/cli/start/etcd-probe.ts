import { readFile } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import type { StoreChoice } from "../../../storage/options.ts";

type EtcdChoice = Extract<StoreChoice, { type: "etcd" }>;

const PATIENCE_MS = 2000;

/** Returns the connection problem of each etcd server, or undefined if it is reachable. */
export async function probeEtcd(etcd: EtcdChoice): Promise<(string | undefined)[]> {
  return Promise.all(etcd.servers.map((server) => problemOf(new URL(server), etcd)));
}

async function problemOf(url: URL, etcd: EtcdChoice): Promise<string | undefined> {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const place = { host, port: Number(url.port) || (url.protocol === "https:" ? 443 : 80), timeout: PATIENCE_MS };
  if (url.protocol === "http:") return whyNot(connect(place), "connect");
  const tls = await import("node:tls");
  const read = (file: string | undefined) => (file === undefined ? undefined : readFile(file));
  const [ca, cert, key] = await Promise.all([read(etcd.caFile), read(etcd.certFile), read(etcd.keyFile)]);
  return whyNot(tls.connect({ ...place, ca, cert, key, ALPNProtocols: ["h2"], servername: "" }), "secureConnect");
}

function whyNot(socket: Socket, connected: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const end = (problem: string | undefined): void => {
      socket.destroy();
      resolve(problem);
    };
    socket.once(connected, () => end(undefined));
    socket.once("timeout", () => end("timed out after 2 s"));
    socket.once("error", ({ code, message }: NodeJS.ErrnoException) => end(WORDS.get(code ?? "") ?? code ?? message));
  });
}

const WORDS: ReadonlyMap<string, string> = new Map([
  ["ECONNREFUSED", "connection refused"],
  ["ENOTFOUND", "no such host"],
  ["EAI_AGAIN", "the host name cannot be resolved (temporary DNS failure)"],
  ["ECONNRESET", "connection reset; try http instead of https"],
  ["ERR_SSL_WRONG_VERSION_NUMBER", "no TLS on this port; try http instead of https"],
  ["ERR_SSL_PACKET_LENGTH_TOO_LONG", "no TLS on this port; try http instead of https"],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", "its certificate is not signed by a CA in --etcd-cafile"],
  ["SELF_SIGNED_CERT_IN_CHAIN", "its certificate is not signed by a CA in --etcd-cafile"],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "its certificate is not signed by a CA in --etcd-cafile"],
  ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", "its certificate is not signed by a CA in --etcd-cafile"],
]);
