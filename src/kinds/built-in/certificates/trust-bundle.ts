import { type FieldError, invalidField, tooLongField } from "../../../base/api/field-error.ts";
import { byteLength } from "../../../base/api/names.ts";
import type { JsonObject, KubeObject } from "../../../base/api/object.ts";
import { type PemBlock, pemBlocks } from "../../../base/pki/pem.ts";
import { readCertificate } from "../../../base/pki/x509-read.ts";
import { addAll } from "../../../base/util/add-all.ts";
import type { ResourceHooks } from "../../../resources/model/definition.ts";
import { immutable } from "../shared-rules/immutable.ts";
import { trustBundleName, validateSignerName } from "../shared-rules/signer-names.ts";

interface BundleSpec extends JsonObject {
  signerName?: string;
  trustBundle?: string;
}

const MAX_BYTES = 1024 * 1024;
const PATH = "spec.trustBundle";

const specOf = (bundle: KubeObject): BundleSpec => (bundle.spec as BundleSpec | undefined) ?? {};

/** Compat: errors on `spec.trustBundle` show "<value omitted>", never the PEM text. */
const bundleError = (text: string): FieldError => invalidField(PATH, "<value omitted>", text);

function blockProblem({ type, hasHeaders, bytes }: PemBlock): string | undefined {
  if (type !== "CERTIFICATE") return `has bad block type: ${type}`;
  if (hasHeaders) return "has PEM block headers";
  const certificate = readCertificate(bytes);
  if (!certificate) return "does not parse as X.509";
  return certificate.isAuthority ? undefined : "does not have the CA bit set";
}

function bundleErrors(text: string): FieldError[] {
  if (byteLength(text) > MAX_BYTES) return [tooLongField(PATH, MAX_BYTES)];
  const errors: FieldError[] = [];
  const places = new Map<string, number[]>();
  for (const [index, block] of [...pemBlocks(text)].entries()) {
    const problem = blockProblem(block);
    if (problem !== undefined) errors.push(bundleError(`entry ${index} ${problem}`));
    const content = block.bytes.toString("base64");
    places.set(content, [...(places.get(content) ?? []), index]);
  }
  if (errors.length > 0) return errors;
  if (places.size === 0) return [bundleError("at least one trust anchor must be provided")];
  return [...places.values()]
    .filter((indices) => indices.length > 1)
    .map((indices) => bundleError(`duplicate trust anchor (indices [${indices.join(" ")}])`));
}

function nameErrors({ metadata }: KubeObject, signer: string): FieldError[] {
  const { name = "", generateName = "" } = metadata;
  // Compat: upstream's `maskTrailingDash` replaces the dash at the end of generateName and the character before it by
  // "a", so that character is not validated either.
  const beginning = generateName.replace(/.-$/, "a");
  const ofBeginning = generateName === "" ? [] : trustBundleName(beginning, signer);
  return [
    ...ofBeginning.map((text) => invalidField("metadata.generateName", generateName, text)),
    ...(name === "" ? [] : trustBundleName(name, signer)).map((text) => invalidField("metadata.name", name, text)),
  ];
}

/** ClusterTrustBundle: trust anchors, for a signer (`spec.signerName`) or in general. */
export const trustBundleHooks: ResourceHooks = {
  validate(next, previous) {
    const { signerName = "", trustBundle = "" } = specOf(next);
    const errors = nameErrors(next, signerName);
    if (signerName !== "") addAll(errors, validateSignerName(signerName, "spec.signerName"));
    const before = previous && specOf(previous);
    if (!before || trustBundle !== (before.trustBundle ?? "")) addAll(errors, bundleErrors(trustBundle));
    if (before) addAll(errors, immutable(signerName, before.signerName ?? "", "spec.signerName"));
    return errors;
  },
};
