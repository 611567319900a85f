import { createPrivateKey, X509Certificate } from "node:crypto";
import type { Environment } from "../../lib/environment.ts";
import { readLimited, WatchedFile } from "../watched-file.ts";

/** A certificate by which other servers know this one. */
export interface ClientCertificate {
  readonly cert: string;
  readonly key: string;
}

/** Files of a certificate, read again when they change. */
export interface CertificateFiles {
  current(): ClientCertificate | undefined;
  close(): void;
}

/** Which files, and how they are spoken of. */
export interface CertificateFilesOptions {
  readonly certFile: string | undefined;
  readonly keyFile: string | undefined;
  /** Their flags. */
  readonly flags: readonly [cert: string, key: string];
  /** Who is shown the certificate. */
  readonly audience: string;
}

/**
 * Reads the files, and follows them. Throws when there is only one of them, or the key is another certificate's; later such
 * files change nothing until they fit.
 */
export async function openClientCertificate(
  { certFile, keyFile, flags, audience }: CertificateFilesOptions,
  { clock, log }: Pick<Environment, "clock" | "log">,
): Promise<CertificateFiles> {
  if (certFile === undefined && keyFile === undefined) return { current: () => undefined, close: () => undefined };
  if (certFile === undefined || keyFile === undefined) throw new Error(`${flags.join(" and ")} need each other`);
  let current = await readPair(certFile, keyFile);
  const changed = async (): Promise<void> => {
    current = await readPair(certFile, keyFile);
    log.info(`${audience} are shown another certificate`, { file: certFile });
  };
  const failed = (error: unknown) => log.error(`the certificate for ${audience} cannot be read`, { err: error });
  const files = [new WatchedFile({ file: certFile, clock, changed, failed }, current.cert)];
  files.push(new WatchedFile({ file: keyFile, clock, changed, failed }, current.key));
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
