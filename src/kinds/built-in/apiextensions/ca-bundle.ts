import { X509Certificate } from "node:crypto";
import { pemBlocks } from "../../../base/pki/pem.ts";

/** Why the certificates of a base64 caBundle cannot be used; undefined if they can. Upstream: `ValidateCABundle`. */
export function caBundleError(caBundle: string): string | undefined {
  if (caBundle === "") return undefined;
  const text = Buffer.from(caBundle, "base64").toString("latin1");
  const blocks = [...pemBlocks(text)].filter(({ type }) => type === "CERTIFICATE");
  const prefix = "unable to load root certificates: ";
  if (blocks.length === 0) return `${prefix}unable to parse bytes as PEM block`;
  try {
    for (const block of blocks) new X509Certificate(block.bytes);
    return undefined;
  } catch {
    return `${prefix}data does not contain any valid RSA or ECDSA certificates`;
  }
}
