import { readFile } from "node:fs/promises";
import type { ProxyCertificate } from "../../aggregation/extension-client.ts";
import type { Config } from "../config.ts";

/** Reads `--proxy-client-cert-file` and `--proxy-client-key-file`. Throws when there is only one of them. */
export async function readProxyCertificate({
  proxyClientCertFile: certFile,
  proxyClientKeyFile: keyFile,
}: Config): Promise<ProxyCertificate | undefined> {
  if (certFile === undefined && keyFile === undefined) return undefined;
  if (certFile === undefined || keyFile === undefined) {
    throw new Error("--proxy-client-cert-file and --proxy-client-key-file need each other");
  }
  const [cert, key] = await Promise.all([readFile(certFile, "utf8"), readFile(keyFile, "utf8")]);
  return { cert, key };
}
