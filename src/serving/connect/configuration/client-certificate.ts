import { createPrivateKey, X509Certificate } from "node:crypto";
import { readLimited, WatchedFile } from "../../../base/files/watched-file.ts";
import type { Environment } from "../../../base/util/environment.ts";

/** A client certificate that identifies this server to others. */
export interface ClientCertificate {
  readonly cert: string;
  readonly key: string;
}

/** Certificate files that are reloaded when they change. */
export interface CertificateFiles {
  current(): ClientCertificate | undefined;
  close(): void;
}

/** The files, and their names in messages. */
export interface CertificateFilesOptions {
  readonly certFile: string | undefined;
  readonly keyFile: string | undefined;
  /** The flags that name the files. */
  readonly flags: readonly [cert: string, key: string];
  /** The servers that the certificate is for, as used in log lines. */
  readonly audience: string;
}

/**
 * Reads the files and watches them for changes. Throws if only one of them is given or they do not match. Later
 * mismatches are logged, and the last valid pair stays in use.
 */
export async function openClientCertificate(
  { certFile, keyFile, flags, audience }: CertificateFilesOptions,
  { clock, log }: Pick<Environment, "clock" | "log">,
): Promise<CertificateFiles> {
  if (certFile === undefined && keyFile === undefined) return { current: () => undefined, close: () => undefined };
  if (certFile === undefined || keyFile === undefined) throw new Error(`${flags.join(" and ")} must be used together`);
  let current = await readPair(certFile, keyFile);
  const changed = async (): Promise<void> => {
    current = await readPair(certFile, keyFile);
    log.info(`client certificate for ${audience} reloaded`, { file: certFile });
  };
  const watch = (file: string, content: string): WatchedFile => {
    const text = `reloading the client certificate for ${audience} failed, keeping the current one`;
    const failed = (error: unknown) => log.error(text, { err: error, file });
    return new WatchedFile({ file, clock, changed, failed }, content);
  };
  const files = [watch(certFile, current.cert), watch(keyFile, current.key)];
  return {
    current: () => current,
    close() {
      for (const file of files) file.close();
    },
  };
}

async function readPair(certFile: string, keyFile: string): Promise<ClientCertificate> {
  const [cert, key] = [await readLimited(certFile), await readLimited(keyFile)];
  if (!new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) {
    throw new Error(`${keyFile} is not the key of the certificate in ${certFile}`);
  }
  return { cert, key };
}
