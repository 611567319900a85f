import {
  type FieldError,
  invalidField,
  notSupportedField,
  requiredField,
  tooLongField,
} from "../../../base/api/field-error.ts";
import { byteLength, labelValue } from "../../../base/api/names.ts";
import { addAll } from "../../../base/util/add-all.ts";
import { subdomainName } from "../shared-rules/formats.ts";
import { labelErrors, parameterErrors } from "./device-names.ts";
import { selectorProblem } from "./device-selector.ts";
import type {
  ClaimSpec,
  DeviceConfiguration,
  DeviceConstraint,
  DeviceRequest,
  DeviceSelector,
  DeviceToleration,
  ExactRequest,
} from "./types.ts";

/**
 * maxItems of lists in a ResourceClaim: declarative validation rejects longer lists, and their items are not validated.
 */
export const LIMITS = { requests: 32, alternatives: 8, constraints: 32, configs: 32, selectors: 32 } as const;

const MAX_EXPRESSION = 10_240;
const MAX_PARAMETERS = 10_240;
const NO_REQUEST =
  "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'";

/** The items of a list; none if it is too long to be validated. */
function within<T>(list: readonly T[] | null | undefined, limit: number): readonly T[] {
  return !list || list.length > limit ? [] : list;
}

/** The names of DeviceRequests, each with those of its `firstAvailable` subrequests. */
export type RequestNames = ReadonlyMap<string, ReadonlySet<string>>;

/** All names by which the DeviceRequests of a claim can be referred to. */
export function requestNamesOf({ devices }: ClaimSpec): RequestNames {
  return new Map(
    (devices?.requests ?? []).map(({ name = "", firstAvailable = [] }) => [
      name,
      new Set(firstAvailable.map((alternative) => alternative.name ?? "")),
    ]),
  );
}

/** Validates a reference to a DeviceRequest: `request` or `request/subrequest`. */
export function requestReferenceErrors(name: string, path: string, names: RequestNames): FieldError[] {
  const parts = name.split("/");
  const [request = "", alternative] = parts;
  if (parts.length > 2) return [invalidField(path, name, NO_REQUEST)];
  const errors = parts.flatMap((part) => labelErrors(part, path));
  const alternatives = names.get(request);
  const isKnown = alternatives !== undefined && (alternative === undefined || alternatives.has(alternative));
  return isKnown ? errors : [...errors, invalidField(path, name, NO_REQUEST)];
}

/** Validates the references in a list `requests`; skipped if it is too long. */
export function requestListErrors(list: readonly string[] | undefined, path: string, names: RequestNames) {
  return within(list, LIMITS.requests).flatMap((name, index) =>
    requestReferenceErrors(name, `${path}[${index}]`, names),
  );
}

/** Validates DeviceSelectors, and compiles their CEL expressions. */
export function selectorErrors(selectors: readonly DeviceSelector[] | undefined, path: string): FieldError[] {
  return within(selectors, LIMITS.selectors).flatMap(({ cel }, index) => {
    if (!cel) return [requiredField(`${path}[${index}].cel`)];
    const { expression = "" } = cel;
    const at = `${path}[${index}].cel.expression`;
    if (byteLength(expression) > MAX_EXPRESSION) return [tooLongField(at, MAX_EXPRESSION)];
    const problem = selectorProblem(expression);
    return problem === undefined ? [] : [invalidField(at, expression, problem)];
  });
}

/** Validates DeviceTolerations. */
export function tolerationErrors(tolerations: readonly DeviceToleration[] | undefined, path: string): FieldError[] {
  return (tolerations ?? []).flatMap(({ operator = "", value = "" }, index) => {
    const itemPath = `${path}[${index}]`;
    if (operator === "Exists" && value !== "") {
      return [invalidField(`${itemPath}.value`, value, "must be empty for operator `Exists`")];
    }
    if (operator === "") return [requiredField(`${itemPath}.operator`)];
    if (operator !== "Equal") return [];
    return labelValue(value).map((text) => invalidField(`${itemPath}.value`, value, text));
  });
}

function amountErrors({ allocationMode = "", count = 0 }: ExactRequest, path: string): FieldError[] {
  const say = (text: string) => [invalidField(`${path}.count`, count, text)];
  if (allocationMode === "All") return count === 0 ? [] : say("must not be specified when allocationMode is 'All'");
  if (allocationMode === "ExactCount") return count > 0 ? [] : say("must be greater than zero");
  // Declarative validation rejects other values; it treats a missing value as unset.
  if (allocationMode !== "") return [];
  return [notSupportedField(`${path}.allocationMode`, "", ["All", "ExactCount"])];
}

function classErrors({ deviceClassName = "" }: ExactRequest, path: string): FieldError[] {
  if (deviceClassName === "") return [requiredField(`${path}.deviceClassName`)];
  return subdomainName(deviceClassName).map((text) => invalidField(`${path}.deviceClassName`, deviceClassName, text));
}

function commonErrors(request: ExactRequest, path: string): FieldError[] {
  return [
    ...selectorErrors(request.selectors, `${path}.selectors`),
    ...amountErrors(request, path),
    ...tolerationErrors(request.tolerations, `${path}.tolerations`),
  ];
}

function requestErrors({ name = "", exactly, firstAvailable = [] }: DeviceRequest, path: string): FieldError[] {
  const errors = labelErrors(name, `${path}.name`);
  if (exactly && firstAvailable.length > 0) {
    const text = "exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set";
    return [...errors, invalidField(path, null, text)];
  }
  if (exactly) {
    return [...errors, ...classErrors(exactly, `${path}.exactly`), ...commonErrors(exactly, `${path}.exactly`)];
  }
  if (firstAvailable.length === 0) {
    return [...errors, requiredField(path, "exactly one of `exactly` or `firstAvailable` is required")];
  }
  for (const [index, alternative] of within(firstAvailable, LIMITS.alternatives).entries()) {
    const itemPath = `${path}.firstAvailable[${index}]`;
    addAll(errors, labelErrors(alternative.name ?? "", `${itemPath}.name`), commonErrors(alternative, itemPath));
  }
  return errors;
}

function constraintErrors(constraint: DeviceConstraint, path: string, names: RequestNames): FieldError[] {
  const { requests, matchAttribute, distinctAttribute } = constraint;
  const errors = requestListErrors(requests, `${path}.requests`, names);
  if (matchAttribute !== undefined || distinctAttribute !== undefined) return errors;
  // Compat: upstream's message for neither `matchAttribute` nor `distinctAttribute` has "but multiple fields are set".
  const text = 'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set';
  return [...errors, requiredField(path, text)];
}

/** Validates DeviceConfiguration: `opaque` parameters, which only a driver understands. */
export function configurationErrors({ opaque }: DeviceConfiguration, path: string): FieldError[] {
  if (!opaque) return [requiredField(`${path}.opaque`)];
  return parameterErrors(opaque.parameters, `${path}.opaque.parameters`, MAX_PARAMETERS);
}

/** Validates `config` of a ResourceClaim, or of its allocation. */
export function configurationListErrors(
  configs: readonly DeviceConfiguration[] | undefined,
  path: string,
  names: RequestNames,
  limit: number = LIMITS.configs,
): FieldError[] {
  return within(configs, limit).flatMap((config, index) => [
    ...requestListErrors(config.requests, `${path}[${index}].requests`, names),
    ...configurationErrors(config, `${path}[${index}]`),
  ]);
}

/** Validates ResourceClaimSpec at `path`, except by declarative validation. */
export function claimSpecErrors(spec: ClaimSpec, path: string): FieldError[] {
  const names = requestNamesOf(spec);
  const { requests, constraints, config } = spec.devices ?? {};
  const devices = `${path}.devices`;
  return [
    ...within(requests, LIMITS.requests).flatMap((request, index) =>
      requestErrors(request, `${devices}.requests[${index}]`),
    ),
    ...within(constraints, LIMITS.constraints).flatMap((constraint, index) =>
      constraintErrors(constraint, `${devices}.constraints[${index}]`, names),
    ),
    ...configurationListErrors(config, `${devices}.config`, names),
  ];
}
