import {
  duplicateField,
  type FieldError,
  forbiddenField,
  invalidField,
  requiredField,
} from "../../../../base/api/field-error.ts";
import { byteLength } from "../../../../base/api/names.ts";
import { isObject } from "../../../../base/api/object.ts";
import { quote } from "../../../../base/go/quote.ts";
import { addAll } from "../../../../base/util/add-all.ts";
import { getMember } from "../../../../base/util/members.ts";
import type { Volume } from "../../../types/volume.ts";
import { labelName, pushInvalid, subdomainName } from "../../shared-rules/formats.ts";
import type { PodOptions } from "../pod/pod-options.ts";
import { checkSource, SOURCES } from "./volume-source-validation.ts";

/** Context of validating volumes. */
export interface VolumeScope {
  readonly options: PodOptions;
  /** The name of the pod; empty for templates and for pods without a name yet. */
  readonly podName: string;
}

/** Validates the volumes of a pod. Returns the valid ones by name. Upstream: `ValidateVolumes`. */
export function validateVolumes(
  errors: FieldError[],
  volumes: readonly Volume[],
  path: string,
  scope: VolumeScope,
): Map<string, Volume> {
  const found = new Map<string, Volume>();
  const madeClaims = claimsMadeFor(volumes, scope.podName);
  for (const [index, volume] of volumes.entries()) {
    const at = `${path}[${index}]`;
    const own: FieldError[] = [];
    const { name = "", persistentVolumeClaim } = volume;
    validateSource(own, volume, at, scope);
    if (name === "") own.push(requiredField(`${at}.name`));
    else pushInvalid(own, `${at}.name`, name, labelName(name));
    if (found.has(name)) own.push(duplicateField(`${at}.name`, name));
    if (own.length === 0) found.set(name, volume);
    else addAll(errors, own);
    const claim = persistentVolumeClaim?.claimName ?? "";
    if (persistentVolumeClaim && madeClaims.has(claim)) {
      const text = "must not reference a PVC that gets created for an ephemeral volume";
      errors.push(invalidField(`${at}.persistentVolumeClaim.claimName`, claim, text));
    }
  }
  return found;
}

function claimsMadeFor(volumes: readonly Volume[], podName: string): Set<string> {
  if (podName === "") return new Set();
  return new Set(volumes.filter(({ ephemeral }) => ephemeral).map(({ name = "" }) => `${podName}-${name}`));
}

/** Compat: upstream's path for a second source says `cephFS`, and `downwarAPI`, which is misspelled. */
const NAMES_WHEN_FORBIDDEN: Readonly<Record<string, string>> = { cephfs: "cephFS", downwardAPI: "downwarAPI" };
/** Compat: upstream's path for an invalid gcePersistentDisk says `persistentDisk`. */
const NAMES_WHEN_WRONG: Readonly<Record<string, string>> = { gcePersistentDisk: "persistentDisk" };

function validateSource(errors: FieldError[], volume: Volume, path: string, scope: VolumeScope): void {
  let isTaken = false;
  for (const member of SOURCES) {
    const source = volume[member];
    if (!isObject(source)) continue;
    if (isTaken) {
      const name = getMember(NAMES_WHEN_FORBIDDEN, member) ?? member;
      errors.push(forbiddenField(`${path}.${name}`, "may not specify more than 1 volume type"));
    } else {
      checkSource(
        errors,
        { member, path: `${path}.${getMember(NAMES_WHEN_WRONG, member) ?? member}` },
        source,
        scope.options,
      );
      if (member === "ephemeral") validateMadeClaim(errors, volume, path, scope);
    }
    if (member === "iscsi") validatePortalLength(errors, volume, path);
    isTaken = true;
  }
  if (!isTaken) errors.push(requiredField(path, "must specify a volume type"));
}

/**
 * Validates the name of the PersistentVolumeClaim of an ephemeral volume, which consists of the pod and volume names.
 */
function validateMadeClaim(errors: FieldError[], { name = "" }: Volume, path: string, { podName }: VolumeScope): void {
  if (podName === "" || name === "") return;
  const claim = `${podName}-${name}`;
  const texts = subdomainName(claim).map((text) => `PVC name ${quote(claim)}: ${text}`);
  pushInvalid(errors, `${path}.name`, name, texts);
}

function validatePortalLength(errors: FieldError[], { name = "", iscsi }: Volume, path: string): void {
  if (iscsi?.initiatorName === undefined || byteLength(`${name}:${iscsi.targetPortal ?? ""}`) <= 64) return;
  const text =
    "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.";
  errors.push(invalidField(`${path}.name`, name, text));
}
