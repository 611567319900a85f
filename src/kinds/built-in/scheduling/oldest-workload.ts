import {
  duplicateField,
  type FieldError,
  invalidField,
  requiredField,
  tooManyField,
} from "../../../base/api/field-error.ts";
import { pathSegment } from "../../../base/api/names.ts";
import { isObject, type KubeObject } from "../../../base/api/object.ts";
import { addAll } from "../../../base/util/add-all.ts";
import { labelName, pushInvalid, subdomainName } from "../shared-rules/formats.ts";
import { asGo, type GoShape } from "../shared-rules/go-print.ts";
import { immutable } from "../shared-rules/immutable.ts";
import type { OldestGroup, OldestWorkloadSpec } from "./types.ts";

const MAX_GROUPS = 8;

const REFERENCE: GoShape = [
  ["APIGroup", "apiGroup", ""],
  ["Kind", "kind", ""],
  ["Name", "name", ""],
];
const GROUP: GoShape = [
  ["Name", "name", ""],
  [
    "Policy",
    "policy",
    { Basic: null, Gang: null },
    [
      ["Basic", "basic"],
      ["Gang", "gang", null, [["MinCount", "minCount", 0]]],
    ],
  ],
];

const specOf = ({ spec }: KubeObject) => (isObject(spec) ? spec : {}) as OldestWorkloadSpec;

function referenceErrors({ apiGroup = "", kind = "", name = "" }: NonNullable<OldestWorkloadSpec["controllerRef"]>) {
  const errors: FieldError[] = [];
  const path = "spec.controllerRef";
  if (apiGroup !== "") pushInvalid(errors, `${path}.apiGroup`, apiGroup, subdomainName(apiGroup));
  for (const [member, value] of Object.entries({ kind, name })) {
    if (value === "") errors.push(requiredField(`${path}.${member}`));
    else pushInvalid(errors, `${path}.${member}`, value, pathSegment(value));
  }
  return errors;
}

function policyErrors({ basic, gang }: NonNullable<OldestGroup["policy"]>, path: string): FieldError[] {
  const rule = "exactly one of `basic`, `gang` is required";
  if (basic && gang) return [invalidField(path, "{`basic`, `gang`}", `${rule}, but multiple fields are set`)];
  if (!basic && !gang) return [requiredField(path, rule)];
  const { minCount = 0 } = gang ?? { minCount: 1 };
  return minCount > 0 ? [] : [invalidField(`${path}.gang.minCount`, minCount, "must be greater than zero")];
}

function groupErrors(groups: readonly OldestGroup[]): FieldError[] {
  const path = "spec.podGroups";
  if (groups.length === 0) return [requiredField(path, "must have at least one item")];
  if (groups.length > MAX_GROUPS) return [tooManyField(path, groups.length, MAX_GROUPS)];
  const names = new Set<string>();
  return groups.flatMap(({ name = "", policy = {} }, index) => {
    const errors: FieldError[] = [];
    const itemPath = `${path}[${index}]`;
    pushInvalid(errors, `${itemPath}.name`, name, labelName(name));
    if (names.has(name)) errors.push(duplicateField(`${itemPath}.name`, name));
    names.add(name);
    return [...errors, ...policyErrors(policy, `${itemPath}.policy`)];
  });
}

/** Validates a Workload written as scheduling.k8s.io/v1alpha1; both objects are in that version. */
export function oldestWorkloadErrors(next: KubeObject, previous: KubeObject | undefined): FieldError[] {
  const { controllerRef, podGroups } = specOf(next);
  const errors = [...(controllerRef ? referenceErrors(controllerRef) : []), ...groupErrors(podGroups ?? [])];
  if (!previous) return errors;
  const before = specOf(previous);
  // Compat: the paths of these two errors are `controllerRef` and `podGroups`, without `spec`.
  if (before.controllerRef) {
    addAll(
      errors,
      immutable(controllerRef, before.controllerRef, "controllerRef", (value) => asGo(value, REFERENCE)),
    );
  }
  return [...errors, ...immutable(podGroups, before.podGroups, "podGroups", (value) => asGo(value, GROUP))];
}
