import { type FieldError, invalidField, requiredField, tooLongField } from "../../../base/api/field-error.ts";
import { byteLength } from "../../../base/api/names.ts";
import { quote } from "../../../base/go/quote.ts";
import { addAll } from "../../../base/util/add-all.ts";
import { labelName, subdomainName } from "./formats.ts";

const MAX_DOMAIN = 253;
const MAX_SIGNER = 571;

/** Whether a signerName is in the domain kubernetes.io. */
export function isKubernetesSigner(signer: string): boolean {
  const [domain = ""] = signer.split("/");
  return domain === "kubernetes.io" || domain.endsWith(".kubernetes.io");
}

/** Validates a signerName such as "example.com/my-signer". */
export function validateSignerName(signer: string, path: string): FieldError[] {
  if (signer === "") return [requiredField(path)];
  const [domain = "", rest, surplus] = signer.split("/");
  if (rest === undefined || surplus !== undefined) {
    return [
      invalidField(path, signer, "must be a fully qualified domain and path of the form 'example.com/signer-name'"),
    ];
  }
  const errors: FieldError[] = [];
  if (byteLength(domain) > MAX_DOMAIN) errors.push(tooLongField(path, MAX_DOMAIN));
  addAll(errors, firstBadPart(domain, path, labelName));
  if (!domain.includes(".")) {
    errors.push(invalidField(path, domain, "should be a domain with at least two segments separated by dots"));
  }
  addAll(errors, firstBadPart(rest, path, subdomainName));
  if (byteLength(signer) > MAX_SIGNER) errors.push(tooLongField(path, MAX_SIGNER));
  return errors;
}

function firstBadPart(dotted: string, path: string, check: (part: string) => string[]): FieldError[] {
  for (const part of dotted.split(".")) {
    const texts = check(part);
    if (texts.length > 0) {
      return texts.map((text) => invalidField(path, dotted, `validating label ${quote(part)}: ${text}`));
    }
  }
  return [];
}

/** Validates the name of a ClusterTrustBundle for a signerName; "" means without a signer. */
export function trustBundleName(name: string, signer: string): string[] {
  if (signer === "") {
    if (name.includes(":")) return ['ClusterTrustBundle without signer name must not have ":" in its name'];
    return subdomainName(name);
  }
  const prefix = `${signer.replaceAll("/", ":")}:`;
  if (name.startsWith(prefix)) return subdomainName(name.slice(prefix.length));
  return [`ClusterTrustBundle for signerName ${signer} must be named with prefix ${prefix}`];
}

/** The signerName that a ClusterTrustBundle's name begins with; "" if there is none. */
export function signerOfTrustBundle(name: string): string {
  const end = name.lastIndexOf(":");
  return end < 0 ? "" : name.slice(0, end).replaceAll(":", "/");
}
