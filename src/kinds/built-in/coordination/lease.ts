import {
  type FieldError,
  forbiddenField,
  invalidField,
  notSupportedField,
  requiredField,
} from "../../../base/api/field-error.ts";
import { qualifiedName } from "../../../base/api/names.ts";
import type { JsonObject, KubeObject } from "../../../base/api/object.ts";
import { addAll } from "../../../base/util/add-all.ts";
import { compareSemanticVersions, findSemanticVersion, type SemanticVersion } from "../../../base/util/semver.ts";
import type { ResourceHooks } from "../../../resources/model/definition.ts";
import { immutable } from "../shared-rules/immutable.ts";
import { NOT_NEGATIVE } from "../shared-rules/numbers.ts";

interface LeaseSpec extends JsonObject {
  leaseDurationSeconds?: number;
  leaseTransitions?: number;
  strategy?: string;
  preferredHolder?: string;
}

interface LeaseCandidateSpec extends JsonObject {
  leaseName?: string;
  binaryVersion?: string;
  emulationVersion?: string;
  strategy?: string;
}

const OLDEST = "OldestEmulationVersion";
const ZERO: SemanticVersion = { numbers: [0n, 0n, 0n], preRelease: [] };

function strategyErrors(strategy: string): FieldError[] {
  // Compat: `ValidateCoordinatedLeaseStrategy` appends the field to a path that already ends in it:
  // `spec.strategy.strategy`.
  const path = "spec.strategy.strategy";
  if (strategy.includes("/")) return qualifiedName(strategy).map((text) => invalidField(path, strategy, text));
  return strategy === OLDEST ? [] : [notSupportedField(path, strategy, [OLDEST])];
}

function validateLease({ spec }: KubeObject): FieldError[] {
  const { leaseDurationSeconds: duration, leaseTransitions, strategy, preferredHolder } = (spec ?? {}) as LeaseSpec;
  const errors: FieldError[] = [];
  if (duration !== undefined && duration <= 0) {
    errors.push(invalidField("spec.leaseDurationSeconds", duration, "must be greater than 0"));
  }
  if (leaseTransitions !== undefined && leaseTransitions < 0) {
    errors.push(invalidField("spec.leaseTransitions", leaseTransitions, NOT_NEGATIVE));
  }
  if (strategy !== undefined) addAll(errors, strategyErrors(strategy));
  if (preferredHolder && !strategy) {
    errors.push(forbiddenField("spec.preferredHolder", "may only be specified if `strategy` is defined"));
  }
  return errors;
}

/** The semantic version in a text; zero if it is invalid, in which case an error is added. */
function versionIn(errors: FieldError[], path: string, text: string): SemanticVersion {
  const version = findSemanticVersion(text);
  if (!version) errors.push(invalidField(path, text, "must be a valid semantic version"));
  return version ?? ZERO;
}

function validateCandidate({ spec }: KubeObject): FieldError[] {
  const { leaseName, binaryVersion, emulationVersion, strategy } = (spec ?? {}) as LeaseCandidateSpec;
  const errors: FieldError[] = [];
  if (!leaseName) errors.push(requiredField("spec.leaseName"));
  const emulated = emulationVersion ? versionIn(errors, "spec.emulationVersion", emulationVersion) : ZERO;
  if (!binaryVersion) errors.push(requiredField("spec.binaryVersion"));
  else {
    const binary = versionIn(errors, "spec.binaryVersion", binaryVersion);
    if (emulationVersion && compareSemanticVersions(binary, emulated) < 0) {
      const text = "must be greater than or equal to `emulationVersion`";
      errors.push(invalidField("spec.binaryVersion", binaryVersion, text));
    }
  }
  if (!strategy) {
    errors.push(requiredField("spec.strategy"));
    return errors;
  }
  if (strategy === OLDEST && compareSemanticVersions(emulated, ZERO) === 0) {
    const text = "must be specified when `strategy` is 'OldestEmulationVersion'";
    errors.push(requiredField("spec.emulationVersion", text));
  }
  return [...errors, ...strategyErrors(strategy)];
}

/** Lease: `leaseDurationSeconds` is positive; `preferredHolder` needs a `strategy`. */
export const leaseHooks: ResourceHooks = { validate: validateLease };

/** LeaseCandidate: `binaryVersion` and `emulationVersion` of a candidate; `leaseName` is immutable. */
export const leaseCandidateHooks: ResourceHooks = {
  validate(next, previous) {
    const errors = validateCandidate(next);
    if (!previous) return errors;
    const [{ leaseName = "" }, { leaseName: before = "" }] = [next, previous].map(
      ({ spec }) => (spec ?? {}) as LeaseCandidateSpec,
    ) as [LeaseCandidateSpec, LeaseCandidateSpec];
    return [...errors, ...immutable(leaseName, before, "spec.leaseName")];
  },
};
