import {
  duplicateField,
  type FieldError,
  forbiddenField,
  invalidField,
  notSupportedField,
  requiredField,
  tooLongField,
} from "../../../base/api/field-error.ts";
import { byteLength, qualifiedName } from "../../../base/api/names.ts";
import { isObject, type Json, type JsonObject, type KubeObject } from "../../../base/api/object.ts";
import { addAll } from "../../../base/util/add-all.ts";
import { seenBefore } from "../../../base/util/seen-before.ts";
import type { ResourceHooks } from "../../../resources/model/definition.ts";
import type { Texts } from "../../types/meta.ts";
import { declaredHook } from "../shared-rules/declared.ts";
import { sameValue } from "../shared-rules/immutable.ts";
import { deprecatedNodeLabel } from "../shared-rules/node-labels.ts";

interface TopologyRequirement extends JsonObject {
  key?: string;
  values?: string[] | null;
}

interface TopologyTerm extends JsonObject {
  matchLabelExpressions?: TopologyRequirement[] | null;
}

const MAX_PARAMETERS = 512;
const MAX_PARAMETER_BYTES = 262_144;
const RECLAIM_POLICIES = ["Delete", "Retain"];
const BINDING_MODES = ["Immediate", "WaitForFirstConsumer"];

/** Validates `provisioner` or `driverName` of a class; a missing one is reported elsewhere. */
function provisionerErrors(name: Json | undefined, path: string): FieldError[] {
  // Compat: `validateProvisioner` checks, and shows, `provisioner` in lower case.
  const shown = typeof name === "string" ? name.toLowerCase() : "";
  return shown === "" ? [] : qualifiedName(shown).map((text) => invalidField(path, shown, text));
}

function parameterErrors(parameters: Json | undefined, path: string): FieldError[] {
  const entries = Object.entries(isObject(parameters) ? (parameters as Texts) : {});
  if (entries.length > MAX_PARAMETERS) return [tooLongField(path, MAX_PARAMETERS)];
  const errors: FieldError[] = [];
  let bytes = 0;
  for (const [key, value] of entries) {
    if (key === "") errors.push(invalidField(path, key, "field can not be empty."));
    bytes += byteLength(key) + byteLength(value);
  }
  if (bytes > MAX_PARAMETER_BYTES) errors.push(tooLongField(path, MAX_PARAMETER_BYTES));
  return errors;
}

function termErrors({ matchLabelExpressions }: TopologyTerm, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const keys = new Set<string>();
  for (const [index, { key = "", values: list }] of (matchLabelExpressions ?? []).entries()) {
    const values = list ?? [];
    const itemPath = `${path}.matchLabelExpressions[${index}]`;
    if (values.length === 0) errors.push(requiredField(`${itemPath}.values`));
    const isSecond = seenBefore<string>();
    for (const [at, value] of values.entries()) {
      if (isSecond(value)) errors.push(duplicateField(`${itemPath}.values[${at}]`, value));
    }
    addAll(
      errors,
      qualifiedName(key).map((text) => invalidField(`${itemPath}.key`, key, text)),
    );
    if (keys.has(key)) errors.push(duplicateField(`${itemPath}.key`, key));
    keys.add(key);
  }
  return errors;
}

/** A key that TopologySelectorTerms share if they select the same. */
function meaningOf({ matchLabelExpressions }: TopologyTerm): string {
  const expressions = matchLabelExpressions ?? [];
  const byKey = new Map(expressions.map(({ key = "", values }) => [key, [...new Set(values)].sort()]));
  return JSON.stringify([...byKey].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function topologyErrors(topologies: readonly TopologyTerm[]): FieldError[] {
  // Compat: `validateAllowedTopologies` starts with a list of nil maps, so a term without matchLabelExpressions is a
  // duplicate.
  const seen = new Set([meaningOf({})]);
  return topologies.flatMap((term, index) => {
    const path = `allowedTopologies[${index}]`;
    const errors = termErrors(term, path);
    if (seen.has(meaningOf(term))) errors.push(duplicateField(`${path}.matchLabelExpressions`, ""));
    seen.add(meaningOf(term));
    return errors;
  });
}

const topologiesOf = (storageClass: KubeObject) => (storageClass.allowedTopologies ?? []) as TopologyTerm[];

const declaredErrors = declaredHook(
  {
    StorageClass: {
      fields: {
        provisioner: { required: true, immutable: true },
        parameters: { immutable: true },
        reclaimPolicy: { immutable: true },
        volumeBindingMode: { immutable: true },
      },
    },
  },
  (version) => `io.k8s.api.storage.${version}.StorageClass`,
);

/** StorageClass: provisioner, parameters, reclaimPolicy and volumeBindingMode are immutable. */
export const storageClassHooks: ResourceHooks = {
  validate(next, previous, context) {
    const { provisioner, parameters, reclaimPolicy, volumeBindingMode: mode } = next;
    const errors = [...provisionerErrors(provisioner, "provisioner"), ...parameterErrors(parameters, "parameters")];
    if (typeof reclaimPolicy === "string" && reclaimPolicy !== "" && !RECLAIM_POLICIES.includes(reclaimPolicy)) {
      errors.push(notSupportedField("reclaimPolicy", reclaimPolicy, RECLAIM_POLICIES));
    }
    if (mode === undefined) errors.push(requiredField("volumeBindingMode"));
    else if (typeof mode === "string" && !BINDING_MODES.includes(mode)) {
      errors.push(notSupportedField("volumeBindingMode", mode, BINDING_MODES));
    }
    return [...errors, ...topologyErrors(topologiesOf(next)), ...declaredErrors(next, previous, context)];
  },
  warn: (next) =>
    topologiesOf(next).flatMap(({ matchLabelExpressions }, index) =>
      (matchLabelExpressions ?? []).flatMap(({ key = "" }, at) => {
        const text = deprecatedNodeLabel(key);
        return text === undefined ? [] : [`allowedTopologies[${index}].matchLabelExpressions[${at}].key: ${text}`];
      }),
    ),
};

/** VolumeAttributesClass: driverName and parameters are immutable. */
export const volumeAttributesClassHooks: ResourceHooks = {
  validate(next, previous) {
    const { driverName, parameters } = next;
    const errors: FieldError[] = [];
    for (const member of previous ? ["driverName", "parameters"] : []) {
      if (sameValue(next[member], previous?.[member])) continue;
      errors.push(forbiddenField(member, `updates to ${member} are forbidden.`));
    }
    if (!driverName) errors.push(requiredField("driverName"));
    addAll(errors, provisionerErrors(driverName, "driverName"), parameterErrors(parameters, "parameters"));
    if (Object.keys(isObject(parameters) ? parameters : {}).length === 0) {
      errors.push(requiredField("parameters", "must contain at least one key/value pair"));
    }
    return errors;
  },
};
