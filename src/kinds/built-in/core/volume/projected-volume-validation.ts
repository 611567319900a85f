import {
  type FieldError,
  forbiddenField,
  invalidField,
  notSupportedField,
  requiredField,
} from "../../../../base/api/field-error.ts";
import { addAll } from "../../../../base/util/add-all.ts";
import type {
  ClusterTrustBundleProjection,
  PodCertificateProjection,
  ProjectedVolumeSource,
  SecretProjection,
  ServiceAccountTokenProjection,
  VolumeProjection,
} from "../../../types/volume.ts";
import { pushOwnFileErrors } from "../../shared-rules/file-paths.ts";
import { pushInvalid } from "../../shared-rules/formats.ts";
import { asGo, type GoShape } from "../../shared-rules/go-print.ts";
import { orderedSelector, validateLabelSelector } from "../../shared-rules/label-selector.ts";
import { pushUserAnnotationErrors } from "../../shared-rules/metadata.ts";
import {
  isKubernetesSigner,
  signerOfTrustBundle,
  trustBundleName,
  validateSignerName,
} from "../../shared-rules/signer-names.ts";
import { checkDownwardFile } from "../container/downward-api-validation.ts";
import type { PodOptions } from "../pod/pod-options.ts";
import { checkKeyToPath, checkMode, checkOwner } from "./volume-checks.ts";

/** Field paths, and the files of the volume so far. */
interface Place {
  /** Path of the whole volume, where kube-apiserver reports colliding files. */
  readonly volume: string;
  readonly source: string;
  readonly files: Set<string>;
  readonly options: PodOptions;
}

/** Validates a ProjectedVolumeSource. */
export function checkProjected(
  errors: FieldError[],
  volume: ProjectedVolumeSource,
  path: string,
  options: PodOptions,
): void {
  checkMode(errors, volume.defaultMode, `${path}.defaultMode`);
  checkOwner(errors, volume.defaultUser, `${path}.defaultUser`);
  const files = new Set<string>();
  for (const [index, source] of (volume.sources ?? []).entries()) {
    checkProjection(errors, source, { volume: path, source: `${path}.sources[${index}]`, files, options });
  }
}

function checkProjection(errors: FieldError[], source: VolumeProjection, place: Place): void {
  const { secret, configMap, downwardAPI, serviceAccountToken, clusterTrustBundle, podCertificate } = source;
  if (secret) checkKeys(errors, secret, `${place.source}.secret`, place);
  if (configMap) checkKeys(errors, configMap, `${place.source}.configMap`, place);
  for (const file of downwardAPI?.items ?? []) {
    checkDownwardFile(errors, file, `${place.source}.downwardAPI`);
    if (file.path) takeFile(errors, file.path, place);
  }
  if (serviceAccountToken) checkToken(errors, serviceAccountToken, place);
  if (clusterTrustBundle) checkTrustBundle(errors, clusterTrustBundle, place);
  if (podCertificate) checkCertificate(errors, podCertificate, place);
  if (Object.keys(source).length > 1) {
    errors.push(forbiddenField(place.source, "may not specify more than 1 volume type per source"));
  }
}

function takeFile(errors: FieldError[], file: string, { files, volume }: Place, shown = file): void {
  if (files.has(file)) errors.push(invalidField(volume, shown, "conflicting duplicate paths"));
  files.add(file);
}

function checkKeys(errors: FieldError[], source: SecretProjection, path: string, place: Place): void {
  const { name = "", items = [] } = source;
  if (name === "") errors.push(requiredField(`${path}.name`));
  for (const [index, item] of items.entries()) {
    checkKeyToPath(errors, item, `${path}.items[${index}]`);
    if (item.path) takeFile(errors, item.path, place, name);
  }
}

function checkToken(errors: FieldError[], token: ServiceAccountTokenProjection, place: Place): void {
  const path = `${place.source}.serviceAccountToken`;
  const { expirationSeconds, path: file = "" } = token;
  if (expirationSeconds === undefined) {
    errors.push(requiredField(`${path}.expirationSeconds`));
  } else if (expirationSeconds < 600) {
    const text = "may not specify a duration less than 10 minutes";
    errors.push(invalidField(`${path}.expirationSeconds`, expirationSeconds, text));
  } else if (expirationSeconds > 2 ** 32) {
    const text = "may not specify a duration larger than 2^32 seconds";
    errors.push(invalidField(`${path}.expirationSeconds`, expirationSeconds, text));
  }
  if (file === "") errors.push(requiredField(`${place.volume}.path`));
  else if (!place.options.allowsAnyTokenPath) pushOwnFileErrors(errors, `${place.volume}.path`, file);
  checkOwner(errors, token.user, `${path}.user`);
}

const BUNDLE_SHAPE: GoShape = [
  ["Name", "name"],
  ["SignerName", "signerName"],
  ["LabelSelector", "labelSelector"],
  ["Optional", "optional"],
  ["Path", "path", ""],
  ["User", "user"],
];

function checkTrustBundle(errors: FieldError[], bundle: ClusterTrustBundleProjection, place: Place): void {
  const path = `${place.source}.clusterTrustBundle`;
  const { name, signerName, labelSelector, path: file = "" } = bundle;
  if (name !== undefined && signerName !== undefined) {
    errors.push(invalidField(path, asGo(bundle, BUNDLE_SHAPE), "only one of name and signerName may be used"));
  } else if (name !== undefined) {
    if (name === "") errors.push(requiredField(`${path}.name`, "must be a valid object name"));
    const texts = trustBundleName(name, signerOfTrustBundle(name));
    pushInvalid(
      errors,
      `${path}.name`,
      name,
      texts.map((text) => `not a valid clustertrustbundlename: ${text}`),
    );
    if (labelSelector) {
      const text = "labelSelector must be unset if name is specified";
      errors.push(invalidField(`${path}.labelSelector`, orderedSelector(labelSelector), text));
    }
  } else if (signerName !== undefined) {
    if (signerName === "") errors.push(requiredField(`${path}.signerName`, "must be a valid signer name"));
    addAll(errors, validateSignerName(signerName, `${path}.signerName`));
    addAll(errors, validateLabelSelector(labelSelector, `${path}.labelSelector`));
  } else {
    errors.push(requiredField(path, "either name or signerName must be specified"));
  }
  if (file === "") errors.push(requiredField(`${path}.path`));
  checkOwner(errors, bundle.user, `${path}.user`);
  pushOwnFileErrors(errors, `${path}.path`, file);
  takeFile(errors, file, place);
}

const KEY_TYPES = ["RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519"];
const DAY = 24 * 60 * 60;
const FILES = ["credentialBundlePath", "keyPath", "certificateChainPath"] as const;

function checkCertificate(errors: FieldError[], certificate: PodCertificateProjection, place: Place): void {
  const path = `${place.source}.podCertificate`;
  const { signerName = "", keyType = "", maxExpirationSeconds } = certificate;
  addAll(errors, validateSignerName(signerName, `${path}.signerName`));
  pushUserAnnotationErrors(errors, `${path}.userAnnotations`, certificate.userAnnotations);
  checkOwner(errors, certificate.user, `${path}.user`);
  if (!KEY_TYPES.includes(keyType)) errors.push(notSupportedField(`${path}.keyType`, keyType, KEY_TYPES));
  if (maxExpirationSeconds !== undefined) {
    const longest = isKubernetesSigner(signerName) ? DAY : 91 * DAY;
    const limit = maxExpirationSeconds < 3600 ? ">= 3600" : maxExpirationSeconds > longest ? `<= ${longest}` : "";
    const text = `if provided, maxExpirationSeconds must be ${limit}`;
    if (limit !== "") errors.push(invalidField(`${path}.maxExpirationSeconds`, maxExpirationSeconds, text));
  }
  for (const member of FILES) {
    const file = certificate[member] ?? "";
    if (file === "") continue;
    pushOwnFileErrors(errors, `${path}.${member}`, file);
    takeFile(errors, file, place);
  }
  if (FILES.every((member) => (certificate[member] ?? "") === "")) {
    const text = "specify at least one of credentialBundlePath, keyPath, and certificateChainPath";
    errors.push(requiredField(path, text));
  }
}
