import { createPrivateKey, X509Certificate } from "node:crypto";
import type { ProxyCertificate } from "../../aggregation/extension-client.ts";
import type { Environment } from "../../lib/environment.ts";
import type { Config } from "../config.ts";
import { readLimited, WatchedFile } from "../watched-file.ts";

/** The certificate by which extension servers know this server, read again when its files change. */
export interface ProxyCertificateFiles {
  current(): ProxyCertificate | undefined;
  close(): void;
}

/**
 * Reads `--proxy-client-cert-file` and `--proxy-client-key-file`, and follows them. Throws when there is only one of them,
 * or the key is another certificate's; later such files change nothing until they fit.
 */
export async function openProxyCertificate(
  { proxyClientCertFile: certFile, proxyClientKeyFile: keyFile }: Config,
  { clock, log }: Pick<Environment, "clock" | "log">,
): Promise<ProxyCertificateFiles> {
  if (certFile === undefined && keyFile === undefined) return { current: () => undefined, close: () => undefined };
  if (certFile === undefined || keyFile === undefined) {
    throw new Error("--proxy-client-cert-file and --proxy-client-key-file need each other");
  }
  let current = await readPair(certFile, keyFile);
  const changed = async (): Promise<void> => {
    current = await readPair(certFile, keyFile);
    log.info("extension servers are shown another certificate", { file: certFile });
  };
  const failed = (error: unknown) => log.error("the certificate for extension servers cannot be read", { err: error });
  const files = [new WatchedFile({ file: certFile, clock, changed, failed }, current.cert)];
  files.push(new WatchedFile({ file: keyFile, clock, changed, failed }, current.key));
  return {
    current: () => current,
    close() {
      for (const file of files) file.close();
    },
  };
}

async function readPair(certFile: string, keyFile: string): Promise<ProxyCertificate> {
  const [cert, key] = [await readLimited(certFile), await readLimited(keyFile)];
  if (!new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) {
    throw new Error(`${keyFile} is not the key of the certificate in ${certFile}`);
  }
  return { cert, key };
}
