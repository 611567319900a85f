import { type FieldError, invalidField, requiredField } from "../../../base/api/field-error.ts";
import { pathSegment } from "../../../base/api/names.ts";
import { isObject, type JsonObject, type KubeObject } from "../../../base/api/object.ts";
import { addAll } from "../../../base/util/add-all.ts";
import type { ResourceHooks } from "../../../resources/model/definition.ts";
import { declaredHook } from "../shared-rules/declared.ts";
import { pushInvalid, subdomainName } from "../shared-rules/formats.ts";
import { IMMUTABLE, sameValue } from "../shared-rules/immutable.ts";
import { pushCanonicalAddressErrors } from "../shared-rules/ip.ts";
import { haveBothRangeFamilies, parseLooseRange, pushCanonicalRangeErrors } from "../shared-rules/ip-ranges.ts";

interface ParentReference extends JsonObject {
  group?: string;
  resource?: string;
  namespace?: string;
  name?: string;
}

const declaredErrors = declaredHook(
  {
    IPAddressSpec: { fields: { parentRef: { required: true, immutable: true } } },
    ParentReference: { fields: { resource: { required: true }, name: { required: true } } },
  },
  (version) => `io.k8s.api.networking.${version}.IPAddress`,
);

/**
 * Validates `spec.parentRef` of an IPAddress. `isChanged`: declarative validation only reports that the field is
 * immutable.
 */
function parentErrors(parent: ParentReference, isChanged: boolean): FieldError[] {
  const { group = "", resource = "", name = "", namespace = "" } = parent;
  const errors: FieldError[] = [];
  const path = "spec.parentRef";
  if (group !== "") pushInvalid(errors, `${path}.group`, group, subdomainName(group));
  for (const [member, value] of Object.entries({ resource, name, namespace })) {
    if (value !== "") pushInvalid(errors, `${path}.${member}`, value, pathSegment(value));
    else if (isChanged && member !== "namespace") errors.push(requiredField(`${path}.${member}`));
  }
  return errors;
}

/** IPAddress: its name is the allocated address; `spec.parentRef` is immutable. */
export const ipAddressHooks: ResourceHooks = {
  validate(next, previous, context) {
    const errors: FieldError[] = [];
    const { name } = next.metadata;
    if (name !== undefined) pushCanonicalAddressErrors(errors, "metadata.name", name);
    const [parent, before] = [next, previous].map((one) => (isObject(one?.spec) ? one.spec.parentRef : undefined));
    const isChanged = previous !== undefined && !sameValue(parent, before);
    if (isObject(parent)) addAll(errors, parentErrors(parent, isChanged));
    return [...errors, ...declaredErrors(next, previous, context)];
  },
};

const rangesOf = ({ spec }: KubeObject) => ((isObject(spec) ? spec.cidrs : []) ?? []) as string[];

const RANGES = "spec.cidrs";

function rangeErrors(ranges: readonly string[]): FieldError[] {
  if (ranges.length === 0) return [requiredField(RANGES, "at least one CIDR required")];
  // Compat: "may only hold up to 2 values" shows the whole internal ServiceCIDRSpec, not the list `spec.cidrs`.
  if (ranges.length > 2) return [invalidField(RANGES, { CIDRs: ranges }, "may only hold up to 2 values")];
  const errors: FieldError[] = [];
  for (const [index, range] of ranges.entries()) pushCanonicalRangeErrors(errors, `${RANGES}[${index}]`, range);
  if (ranges.length === 2 && ranges.every(parseLooseRange) && !haveBothRangeFamilies(ranges)) {
    const text = "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64";
    errors.push(invalidField(RANGES, ranges, text));
  }
  return errors;
}

function changedRangeErrors(ranges: readonly string[], before: readonly string[]): FieldError[] {
  if (before.length === ranges.length) {
    return ranges.flatMap((range, index) =>
      range === before[index] ? [] : [invalidField(`${RANGES}[${index}]`, range, IMMUTABLE)],
    );
  }
  if (before.length !== 1 || ranges.length !== 2) {
    return [invalidField(RANGES, ranges.length > 0 ? ranges : null, IMMUTABLE)];
  }
  const [first] = ranges;
  const errors = first === before[0] ? [] : [invalidField(`${RANGES}[0]`, first, IMMUTABLE)];
  return [...errors, ...rangeErrors(ranges)];
}

/** ServiceCIDR: ranges that ClusterIPs are allocated from; an update may only add the other IP family. */
export const serviceCidrHooks: ResourceHooks = {
  validate(next, previous, { subresource }) {
    if (!previous) return rangeErrors(rangesOf(next));
    return subresource === "status" ? [] : changedRangeErrors(rangesOf(next), rangesOf(previous));
  },
};
