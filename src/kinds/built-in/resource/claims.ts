import { type FieldError, invalidField } from "../../../base/api/field-error.ts";
import { dns1123Subdomain } from "../../../base/api/names.ts";
import { isObject, type Json, type KubeObject } from "../../../base/api/object.ts";
import { addAll } from "../../../base/util/add-all.ts";
import type { ResourceHooks, WriteContext } from "../../../resources/model/definition.ts";
import { nameHook } from "../own-names.ts";
import { declaredHook } from "../shared-rules/declared.ts";
import { asSent } from "../shared-rules/empties.ts";
import { asGo, type GoShape } from "../shared-rules/go-print.ts";
import { IMMUTABLE, sameValue } from "../shared-rules/immutable.ts";
import { pushTemplateMetadataErrors } from "../shared-rules/metadata.ts";
import { claimStatusErrors, dropDeallocatedDevices, resultsOf } from "./claim-status.ts";
import { claimSpecErrors, configurationErrors, LIMITS, requestNamesOf, selectorErrors } from "./claim-validation.ts";
import { convertResource } from "./conversion.ts";
import { resourceRules } from "./declared-rules.ts";
import { setClaimDefaults } from "./defaults.ts";
import type { ClaimSpec, DeviceConfiguration, DeviceSelector, TemplateSpec } from "./types.ts";

const declaredErrors = (kind: string) =>
  declaredHook(resourceRules, (version) => `io.k8s.api.resource.${version}.${kind}`, convertResource);

const claimSpecOf = ({ spec }: KubeObject) => (isObject(spec) ? spec : {}) as ClaimSpec;
const templateSpecOf = ({ spec }: KubeObject) => (isObject(spec) ? spec : {}) as TemplateSpec;

/** Compat: derivedAttributes is dropped unless the feature gate DRADerivedAttributes is on. */
function dropDerivedAttributes({ devices }: ClaimSpec, { features }: WriteContext): void {
  if (features.enabled("DRADerivedAttributes")) return;
  for (const { exactly, firstAvailable = [] } of devices?.requests ?? []) {
    for (const request of exactly ? [exactly, ...firstAvailable] : firstAvailable) delete request.derivedAttributes;
  }
}

const claimDeclared = declaredErrors("ResourceClaim");

/**
 * Compat: `ValidateResourceClaimUpdate` compares the internal spec, so it also detects changes of fields that the
 * client's version cannot show.
 */
function changedSpecErrors(next: KubeObject, previous: KubeObject, context: WriteContext): FieldError[] {
  if (sameValue(next.spec, previous.spec)) return [];
  const sent = claimSpecOf(asSent(next, context));
  if (sent !== next.spec) dropDerivedAttributes(sent, context);
  return [invalidField("spec", { Devices: printDevices(sent) }, IMMUTABLE)];
}

/** ResourceClaim: its spec is immutable; the scheduler writes the allocation to the status. */
export const resourceClaimHooks: ResourceHooks = {
  convert: convertResource,
  setDefaults(object, apiVersion) {
    setClaimDefaults(object.spec, apiVersion);
    for (const { tolerations = [] } of resultsOf(object)) {
      for (const toleration of tolerations) toleration.operator ??= "Equal";
    }
  },
  prepare(next, previous, context) {
    dropDerivedAttributes(claimSpecOf(next), context);
    if (!previous || context.subresource !== "status") return;
    if (!context.features.enabled("DRAOptionalNodeOperations")) {
      for (const result of resultsOf(next)) delete result.skipNodeOperations;
    }
    dropDeallocatedDevices(next, previous);
  },
  validate(next, previous, context) {
    const declared = claimDeclared(next, previous, context);
    const { errors } = context.draft;
    if (!previous) return [...errors, ...claimSpecErrors(claimSpecOf(next), "spec"), ...declared];
    if (context.subresource !== "status")
      return declared.length > 0 ? declared : changedSpecErrors(next, previous, context);
    const names = requestNamesOf(claimSpecOf(next));
    return [...errors, ...claimStatusErrors(next, previous, names), ...declared];
  },
};

const templateDeclared = declaredErrors("ResourceClaimTemplate");

const TOLERATION: GoShape = [
  ["Key", "key", ""],
  ["Operator", "operator", ""],
  ["Value", "value", ""],
  ["Effect", "effect", ""],
  ["TolerationSeconds", "tolerationSeconds"],
];
const REQUEST_BEGIN: GoShape = [
  ["DeviceClassName", "deviceClassName", ""],
  ["Selectors", "selectors", null, [["CEL", "cel", null, [["Expression", "expression", ""]]]]],
  ["AllocationMode", "allocationMode", ""],
  ["Count", "count", 0],
];
const REQUEST_END: GoShape = [
  ["Tolerations", "tolerations", null, TOLERATION],
  ["Capacity", "capacity", null, [["Requests", "requests"]]],
  ["DerivedAttributes", "derivedAttributes"],
];
const OPAQUE: GoShape = [
  ["Driver", "driver", ""],
  ["Parameters", "parameters"],
];
const DEVICES: GoShape = [
  [
    "Requests",
    "requests",
    null,
    [
      ["Name", "name", ""],
      ["Exactly", "exactly", null, [...REQUEST_BEGIN, ["AdminAccess", "adminAccess"], ...REQUEST_END]],
      ["FirstAvailable", "firstAvailable", null, [["Name", "name", ""], ...REQUEST_BEGIN, ...REQUEST_END]],
    ],
  ],
  [
    "Constraints",
    "constraints",
    null,
    [
      ["Requests", "requests"],
      ["MatchAttribute", "matchAttribute"],
      ["DistinctAttribute", "distinctAttribute"],
    ],
  ],
  [
    "Config",
    "config",
    null,
    [
      ["Requests", "requests"],
      ["Opaque", "opaque", null, OPAQUE],
    ],
  ],
];

/** Compat: "field is immutable" shows `spec.devices` as the internal Go struct DeviceClaim. */
function printDevices({ devices = {} }: ClaimSpec): Json {
  return asGo(devices as Json, DEVICES);
}

/** ResourceClaimTemplate: template of ResourceClaims for pods; its spec is immutable. */
export const resourceClaimTemplateHooks: ResourceHooks = {
  convert: convertResource,
  setDefaults(object, apiVersion) {
    setClaimDefaults(templateSpecOf(object).spec, apiVersion);
  },
  prepare: (next, _previous, context) => dropDerivedAttributes(templateSpecOf(next).spec ?? {}, context),
  validate(next, previous, context) {
    const spec = templateSpecOf(next);
    const errors = [...context.draft.errors];
    const sent = templateSpecOf(asSent(next, context));
    if (sent !== spec) dropDerivedAttributes(sent.spec ?? {}, context);
    pushTemplateMetadataErrors(errors, "spec.metadata", sent.metadata ?? {});
    addAll(errors, claimSpecErrors(spec.spec ?? {}, "spec.spec"));
    if (previous && !sameValue(spec, templateSpecOf(previous))) {
      const shown = { ...spec.metadata, Spec: { Devices: printDevices(sent.spec ?? {}) } };
      errors.push(invalidField("spec", shown, IMMUTABLE));
    }
    return [...errors, ...templateDeclared(next, previous, context)];
  },
};

const classDeclared = declaredErrors("DeviceClass");
// Compat: the error on `metadata.name` of a DeviceClass belongs to declarative validation, so it comes after those of
// `ValidateDeviceClass`.
const classNamed = nameHook((name) => dns1123Subdomain(name));

/** DeviceClass: selectors and configuration for a class of devices. */
export const deviceClassHooks: ResourceHooks = {
  convert: convertResource,
  validate(next, previous, context) {
    const spec = (isObject(next.spec) ? next.spec : {}) as {
      selectors?: DeviceSelector[];
      config?: DeviceConfiguration[];
    };
    const { selectors, config = [] } = spec;
    const configs = config.length > LIMITS.configs ? [] : config;
    return [
      ...selectorErrors(selectors, "spec.selectors"),
      ...configs.flatMap((one, index) => configurationErrors(one, `spec.config[${index}]`)),
      ...classNamed.validate(next, previous, context),
      ...classDeclared(next, previous, context),
    ];
  },
};
