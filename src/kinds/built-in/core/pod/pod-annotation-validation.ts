import { type FieldError, forbiddenField, invalidField } from "../../../../base/api/field-error.ts";
import type { ObjectMeta } from "../../../../base/api/object.ts";
import { quote } from "../../../../base/go/quote.ts";
import { parseJsonText } from "../../../../base/util/parse-json.ts";
import type { AppArmorProfile, SeccompProfile } from "../../../types/container.ts";
import type { Texts } from "../../../types/meta.ts";
import type { PodSpec, Toleration } from "../../../types/pod.ts";
import { containersWithPaths } from "../../../types/pod-containers.ts";
import { pushDescendingErrors } from "../../shared-rules/file-paths.ts";
import type { PodOptions } from "./pod-options.ts";
import { validateTolerations } from "./scheduling-validation.ts";

/** The annotation of a mirror pod, which represents a static pod of a kubelet. */
export const MIRROR_POD = "kubernetes.io/config.mirror";
/** The prefix of the deprecated AppArmor annotations (now `securityContext.appArmorProfile`). */
export const APP_ARMOR_PREFIX = "container.apparmor.security.beta.kubernetes.io/";
/** The deprecated annotation of a pod's seccomp profile (now `securityContext.seccompProfile`). */
export const SECCOMP_POD = "seccomp.security.alpha.kubernetes.io/pod";
/** The prefix of the deprecated annotations of containers' seccomp profiles. */
export const SECCOMP_PREFIX = "container.seccomp.security.alpha.kubernetes.io/";

/** The annotation of one container. Loops because most pods have none, and lookups of concatenated keys are slow. */
export function annotationOf(annotations: Texts, prefix: string, container: string): string | undefined {
  for (const key in annotations) {
    if (key.length === prefix.length + container.length && key.startsWith(prefix) && key.endsWith(container)) {
      return annotations[key];
    }
  }
  return undefined;
}

const TOLERATIONS = "scheduler.alpha.kubernetes.io/tolerations";
const DELETION_COST = "controller.kubernetes.io/pod-deletion-cost";
const LOCALHOST = "localhost/";

/** Validates annotations of pods with a special meaning. Upstream: `ValidatePodSpecificAnnotations`. */
export function validatePodAnnotations(
  errors: FieldError[],
  annotations: Texts,
  spec: PodSpec,
  { path, options }: { readonly path: string; readonly options: PodOptions },
): void {
  const mirror = annotations[MIRROR_POD];
  if (mirror !== undefined && (spec.nodeName ?? "") === "") {
    const text = "must set spec.nodeName if mirror pod annotation is set";
    errors.push(invalidField(`${path}[${MIRROR_POD}]`, mirror, text));
  }
  if (annotations[TOLERATIONS]) checkTolerations(errors, annotations[TOLERATIONS], path, options);
  if (!options.allowsInvalidDeletionCost && hasInvalidDeletionCost(annotations)) {
    errors.push(invalidField(`${path}[${DELETION_COST}]`, annotations[DELETION_COST], "must be a 32bit integer"));
  }
  const pod = annotations[SECCOMP_POD];
  if (pod !== undefined) checkSeccomp(errors, pod, `${path}.${SECCOMP_POD}`);
  for (const [key, profile] of Object.entries(annotations)) {
    if (key.startsWith(SECCOMP_PREFIX)) checkSeccomp(errors, profile, `${path}.${key}`);
  }
  checkAppArmor(errors, annotations, spec, path);
}

function checkTolerations(errors: FieldError[], text: string, path: string, options: PodOptions): void {
  try {
    const tolerations = parseJsonText(text) as Toleration[];
    if (Array.isArray(tolerations)) validateTolerations(errors, tolerations, `${path}.${TOLERATIONS}`, options);
  } catch (error) {
    errors.push(invalidField(path, TOLERATIONS, error instanceof Error ? error.message : ""));
  }
}

/** Whether the annotation controller.kubernetes.io/pod-deletion-cost is not an integer. */
export function hasInvalidDeletionCost(annotations: Texts): boolean {
  const cost = annotations[DELETION_COST];
  if (cost === undefined) return false;
  return !/^(?:0|-[0-9]+|[1-9][0-9]*)$/.test(cost) || (Number(cost) | 0) !== Number(cost);
}

function checkSeccomp(errors: FieldError[], profile: string, path: string): void {
  if (profile === "runtime/default" || profile === "docker/default" || profile === "unconfined") return;
  if (profile.startsWith(LOCALHOST)) pushDescendingErrors(errors, path, profile.slice(LOCALHOST.length));
  else errors.push(invalidField(path, profile, "must be a valid seccomp profile"));
}

function checkAppArmor(errors: FieldError[], annotations: Texts, spec: PodSpec, path: string): void {
  for (const [key, profile] of Object.entries(annotations)) {
    if (!key.startsWith(APP_ARMOR_PREFIX)) continue;
    const name = key.slice(APP_ARMOR_PREFIX.length);
    if (!containersWithPaths(spec, "").some(({ container }) => (container.name ?? "") === name)) {
      errors.push(invalidField(`${path}[${key}]`, name, "container not found"));
    }
    if (profile === "" || profile === "runtime/default" || profile === "unconfined") continue;
    if (profile.startsWith(LOCALHOST)) continue;
    errors.push(invalidField(`${path}[${key}]`, profile, `invalid AppArmor profile name: ${quote(profile)}`));
  }
}

/** Validates that AppArmor and seccomp profiles by annotation and by field are the same. */
export function validateProfilesMatch(errors: FieldError[], metadata: ObjectMeta, spec: PodSpec, path: string): void {
  const annotations: Texts = metadata.annotations ?? {};
  const { seccompProfile, appArmorProfile } = spec.securityContext ?? {};
  const pod = annotations[SECCOMP_POD];
  if (pod !== undefined && seccompProfile) {
    matchProfile(errors, pod, seccompProfile, { path: `${path}.securityContext.seccompProfile`, name: "seccomp" });
  }
  const containers = containersWithPaths(spec, path);
  for (const { container, at } of containers) {
    const annotation = annotationOf(annotations, SECCOMP_PREFIX, container.name ?? "");
    const profile = container.securityContext?.seccompProfile;
    if (annotation === undefined || !profile) continue;
    matchProfile(errors, annotation, profile, { path: `${at}.securityContext.seccompProfile`, name: "seccomp" });
  }
  if (spec.os?.name === "windows") return;
  for (const { container, at } of containers) {
    const annotation = annotationOf(annotations, APP_ARMOR_PREFIX, container.name ?? "");
    const profile = container.securityContext?.appArmorProfile ?? appArmorProfile;
    if (annotation === undefined || !profile) continue;
    matchProfile(errors, annotation, profile, { path: `${at}.securityContext.appArmorProfile`, name: "apparmor" });
  }
}

function matchProfile(
  errors: FieldError[],
  annotation: string,
  { type, localhostProfile }: SeccompProfile | AppArmorProfile,
  { path, name }: { readonly path: string; readonly name: "seccomp" | "apparmor" },
): void {
  const isSame =
    type === "Unconfined"
      ? annotation === "unconfined"
      : type === "RuntimeDefault"
        ? annotation === "runtime/default" || (name === "seccomp" && annotation === "docker/default")
        : type !== "Localhost" || annotation.startsWith(LOCALHOST);
  if (!isSame) {
    errors.push(forbiddenField(`${path}.type`, `${name} type in annotation and field must match`));
  } else if (type === "Localhost" && annotation.slice(LOCALHOST.length) !== localhostProfile) {
    errors.push(forbiddenField(`${path}.localhostProfile`, `${name} profile in annotation and field must match`));
  }
}

/**
 * Validates that annotations of static pods and profiles have not changed. Upstream:
 * `ValidatePodSpecificAnnotationUpdates`.
 */
export function validateAnnotationUpdate(errors: FieldError[], next: Texts, previous: Texts, path: string): void {
  for (const [key, old] of Object.entries(previous)) {
    if (next[key] === old) continue;
    const name = fixedAnnotation(key);
    if (name !== undefined) errors.push(forbiddenField(`${path}[${key}]`, `may not remove or update ${name}`));
  }
  for (const key of Object.keys(next)) {
    if (previous[key] !== undefined) continue;
    const name = fixedAnnotation(key);
    if (name !== undefined) errors.push(forbiddenField(`${path}[${key}]`, `may not add ${name}`));
  }
}

/** The name of an immutable annotation in messages; undefined for other annotations. */
function fixedAnnotation(key: string): string | undefined {
  if (key.startsWith(APP_ARMOR_PREFIX)) return "AppArmor annotations";
  return key === MIRROR_POD ? "mirror pod annotation" : undefined;
}
