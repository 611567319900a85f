import type { Certificate } from "../../auth/x509/certificate.ts";
import { CertificateError, parseCertificate } from "../../auth/x509/certificate.ts";
import type { TrustedAuthorities } from "../../auth/x509/chain-verifier.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Log } from "../../lib/environment.ts";
import { pemBlocks } from "../../lib/x509/pem.ts";
import { readLimited, WatchedFile } from "../watched-file.ts";

/** The authorities of a PEM file, read again when it changes. A file that cannot be read changes nothing. */
export class AuthorityFile implements TrustedAuthorities {
  #text: string;
  #current: readonly Certificate[];

  /** `name` is told when the text holds no certificate. */
  constructor(text: string, name: string) {
    this.#text = text;
    this.#current = readAuthorities(text, name);
  }

  /** In PEM. */
  get text(): string {
    return this.#text;
  }

  get current(): readonly Certificate[] {
    return this.#current;
  }

  /** Follows the file until what it returns is closed. `changed` is called when there are other authorities. */
  watch(file: string, { clock, log }: { clock: Clock; log: Log }, changed: () => void): WatchedFile {
    const take = (text: string): void => {
      this.#current = readAuthorities(text, file);
      this.#text = text;
      log.info("the authorities of client certificates have changed", { file });
      changed();
    };
    const failed = (error: unknown) => log.error("the file of authorities cannot be read", { err: error, file });
    return new WatchedFile({ file, clock, changed: take, failed }, this.#text);
  }
}

/** Reads a file of authorities. Throws when it holds none. */
export async function openAuthorityFile(file: string): Promise<AuthorityFile> {
  return new AuthorityFile(await readLimited(file), file);
}

/** Compat: `cert.NewPool` refuses a file with a broken certificate, and one without any. */
function readAuthorities(text: string, name: string): readonly Certificate[] {
  const blocks = [...pemBlocks(text)].filter(({ type, hasHeaders }) => type === "CERTIFICATE" && !hasHeaders);
  try {
    if (blocks.length > 0) return blocks.map(({ bytes }) => parseCertificate(bytes));
  } catch (error) {
    if (!(error instanceof CertificateError)) throw error;
  }
  throw new Error(`error loading ${name}: data does not contain any valid RSA or ECDSA certificates`);
}
