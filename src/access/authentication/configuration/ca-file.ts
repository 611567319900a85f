import { readLimited, WatchedFile } from "../../../base/files/watched-file.ts";
import { pemBlocks } from "../../../base/pki/pem.ts";
import type { Clock } from "../../../base/util/clock.ts";
import type { Log } from "../../../base/util/environment.ts";
import type { Certificate } from "../x509/certificate.ts";
import { CertificateError, parseCertificate } from "../x509/certificate.ts";
import type { TrustedCAs } from "../x509/chain-verifier.ts";

/** The CA certificates of a PEM file. Reloaded when the file changes; an unreadable file leaves them unchanged. */
export class CAFile implements TrustedCAs {
  #text: string;
  #current: readonly Certificate[];

  /** `name` appears in the error that is thrown if the text contains no certificate. */
  constructor(text: string, name: string) {
    this.#text = text;
    this.#current = readCAs(text, name);
  }

  /** The file's content (PEM). */
  get text(): string {
    return this.#text;
  }

  get current(): readonly Certificate[] {
    return this.#current;
  }

  /**
   * Watches the file until the returned WatchedFile is closed. `changed` is called after the CA certificates have been
   * replaced.
   */
  watch(file: string, { clock, log }: { clock: Clock; log: Log }, changed: () => void): WatchedFile {
    const take = (text: string): void => {
      this.#current = readCAs(text, file);
      this.#text = text;
      log.info("reloaded client CA file", { file });
      changed();
    };
    const failed = (error: unknown) =>
      log.error("reloading client CA file failed, keeping the previous certificates", { err: error, file });
    return new WatchedFile({ file, clock, changed: take, failed }, this.#text);
  }
}

/** Opens a CA file. Rejects if it contains no certificate. */
export async function openCAFile(file: string): Promise<CAFile> {
  return new CAFile(await readLimited(file), file);
}

/** Compat: `cert.NewPool` rejects a file with a broken certificate, and one without certificates. */
function readCAs(text: string, name: string): readonly Certificate[] {
  const blocks = [...pemBlocks(text)].filter(({ type, hasHeaders }) => type === "CERTIFICATE" && !hasHeaders);
  try {
    if (blocks.length > 0) return blocks.map(({ bytes }) => parseCertificate(bytes));
  } catch (error) {
    if (!(error instanceof CertificateError)) throw error;
  }
  throw new Error(`error loading ${name}: data does not contain any valid RSA or ECDSA certificates`);
}
