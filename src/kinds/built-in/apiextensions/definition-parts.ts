import {
  duplicateField,
  type FieldError,
  forbiddenField,
  invalidField,
  notSupportedField,
  requiredField,
  tooManyField,
} from "../../../base/api/field-error.ts";
import { byteLength, dns1035Label } from "../../../base/api/names.ts";
import { addAll } from "../../../base/util/add-all.ts";
import type {
  DefinitionConversion,
  DefinitionNames,
  DefinitionSubresources,
  JsonSchemaProps,
  PrinterColumn,
} from "../../types/custom-resource-definition.ts";
import { pushInvalid } from "../shared-rules/formats.ts";
import { type ServiceReference, webhookServiceErrors, webhookUrlErrors } from "../shared-rules/webhook-client.ts";
import { caBundleError } from "./ca-bundle.ts";
import { type DefinitionOptions, MAX_SELECTABLE_FIELDS, REVIEW_VERSIONS } from "./definition-options.ts";
import { findField } from "./field-path.ts";
import type { VersionParts } from "./internal-form.ts";
import { unsupportedSchema } from "./structural-rules.ts";

/** Upstream: `ValidateCustomResourceDefinitionNames`. */
export function namesErrors(names: DefinitionNames, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const check = (member: string, value: string, prefix = "", label = value): void => {
    const texts = value === "" ? [] : dns1035Label(label);
    if (texts.length > 0) errors.push(invalidField(`${path}.${member}`, value, prefix + texts.join(",")));
  };
  const { plural = "", singular = "", kind = "", listKind = "", shortNames = [], categories = [] } = names;
  const mixed = "may have mixed case, but should otherwise match: ";
  check("plural", plural);
  check("singular", singular);
  check("kind", kind, mixed, kind.toLowerCase());
  check("listKind", listKind, mixed, listKind.toLowerCase());
  const checkAll = (member: string, values: readonly string[]): void => {
    for (const [index, value] of values.entries()) {
      const texts = dns1035Label(value);
      if (texts.length > 0) errors.push(invalidField(`${path}.${member}[${index}]`, value, texts.join(",")));
    }
  };
  checkAll("shortNames", shortNames);
  if (kind !== "" && kind === listKind) {
    errors.push(invalidField(`${path}.listKind`, listKind, "kind and listKind may not be the same"));
  }
  checkAll("categories", categories);
  return errors;
}

const COLUMN_TYPES = ["boolean", "date", "integer", "number", "string"];
const COLUMN_FORMATS = ["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];

/** Upstream: `ValidateCustomResourceColumnDefinition`. */
export function columnErrors(column: PrinterColumn, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const { name = "", type = "", format = "", jsonPath = "" } = column;
  if (name === "") errors.push(requiredField(`${path}.name`));
  const types = `must be one of ${COLUMN_TYPES.join(",")}`;
  if (type === "") errors.push(requiredField(`${path}.type`, types));
  else if (!COLUMN_TYPES.includes(type)) errors.push(invalidField(`${path}.type`, type, types));
  if (format !== "" && !COLUMN_FORMATS.includes(format)) {
    errors.push(invalidField(`${path}.format`, format, `must be one of ${COLUMN_FORMATS.join(",")}`));
  }
  if (jsonPath === "") errors.push(requiredField(`${path}.JSONPath`));
  else addAll(errors, simplePathErrors(jsonPath, `${path}.JSONPath`));
  return errors;
}

/** Upstream: `validateSimpleJSONPath`. */
function simplePathErrors(jsonPath: string, path: string): FieldError[] {
  if (jsonPath.startsWith(".")) return [];
  return [invalidField(path, jsonPath, "must be a simple json path starting with .")];
}

/** Upstream: `ValidateCustomResourceDefinitionSubresources`. */
export function subresourcesErrors(subresources: DefinitionSubresources | undefined, path: string): FieldError[] {
  const { scale } = subresources ?? {};
  if (!scale) return [];
  const errors: FieldError[] = [];
  const check = (member: string, value: string, places: readonly string[], under: string): void => {
    const at = `${path}.scale.${member}`;
    const simple = simplePathErrors(value, at);
    addAll(errors, simple);
    if (simple.length === 0 && !places.some((place) => value.startsWith(place))) {
      errors.push(invalidField(at, value, `should be a json path under ${under}`));
    }
  };
  const { specReplicasPath = "", statusReplicasPath = "", labelSelectorPath = "" } = scale;
  if (specReplicasPath === "") errors.push(requiredField(`${path}.scale.specReplicasPath`));
  else check("specReplicasPath", specReplicasPath, [".spec."], ".spec");
  if (statusReplicasPath === "") errors.push(requiredField(`${path}.scale.statusReplicasPath`));
  else check("statusReplicasPath", statusReplicasPath, [".status."], ".status");
  if (labelSelectorPath !== "") {
    check("labelSelectorPath", labelSelectorPath, [".spec.", ".status."], "either .spec or .status");
  }
  return errors;
}

const SELECTABLE_TYPES = ["string", "boolean", "integer"];

/** Upstream: `ValidateCustomResourceSelectableFields`. */
export function selectableErrors(
  fields: VersionParts["selectableFields"],
  schema: JsonSchemaProps | undefined,
  path: string,
  allowsMany: boolean,
): FieldError[] {
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  const root = schema && unsupportedSchema(schema) === undefined ? schema : {};
  for (const [index, { jsonPath = "" }] of (fields ?? []).entries()) {
    const at = `${path}[${index}].jsonPath`;
    if (jsonPath === "") {
      errors.push(requiredField(at));
      continue;
    }
    const found = findField(jsonPath, root, false);
    if ("error" in found) {
      errors.push(invalidField(at, jsonPath, `is an invalid path: ${found.error}`));
      continue;
    }
    if (found.steps[0] === "metadata") {
      errors.push(invalidField(at, jsonPath, "must not point to fields in metadata"));
    }
    if (!SELECTABLE_TYPES.includes(found.schema?.type ?? "")) {
      const text =
        "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.";
      errors.push(invalidField(at, jsonPath, text));
    }
    const name = found.steps.join("");
    if (seen.has(name)) errors.push(duplicateField(at, jsonPath));
    seen.add(name);
  }
  if (seen.size > MAX_SELECTABLE_FIELDS && !allowsMany) {
    errors.push(tooManyField(path, seen.size, MAX_SELECTABLE_FIELDS));
  }
  return errors;
}

/** Upstream: `validateDeprecationWarning`. */
export function deprecationTexts(isDeprecated: boolean, warning: string | undefined): string[] {
  if (warning === undefined) return [];
  if (!isDeprecated) return ["can only be set for deprecated versions"];
  const texts: string[] = [];
  if (byteLength(warning) > 256) texts.push("must be <= 256 characters long");
  if (warning === "") texts.push("must not be an empty string");
  // Go's unicode.IsPrint: letters, marks, numbers, punctuation, symbols and the ASCII space.
  const index = [...warning].findIndex((char) => !/^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u.test(char));
  if (index >= 0) {
    const at = byteLength([...warning].slice(0, index).join(""));
    texts.push(`must only contain printable UTF-8 characters; non-printable character found at index ${at}`);
  }
  return texts;
}

const STRATEGIES = ["None", "Webhook"];

/** Upstream: `validateCustomResourceConversion`. */
export function conversionErrors(
  conversion: DefinitionConversion | undefined,
  path: string,
  options: DefinitionOptions,
): FieldError[] {
  if (!conversion) return [];
  const { strategy = "", webhook } = conversion;
  const errors: FieldError[] = [];
  if (strategy === "") errors.push(requiredField(`${path}.strategy`));
  else if (!STRATEGIES.includes(strategy)) {
    errors.push(notSupportedField(`${path}.strategy`, strategy, STRATEGIES));
  }
  const at = `${path}.webhookClientConfig`;
  const reviewsAt = `${path}.conversionReviewVersions`;
  const reviews = webhook?.conversionReviewVersions ?? [];
  if (strategy !== "Webhook") {
    const text = "should not be set when strategy is not set to Webhook";
    if (webhook?.clientConfig) errors.push(forbiddenField(at, text));
    if (reviews.length > 0) errors.push(forbiddenField(reviewsAt, text));
    return errors;
  }
  const { clientConfig } = webhook ?? {};
  if (!clientConfig) errors.push(requiredField(at, "required when strategy is set to Webhook"));
  else {
    const { url, service, caBundle = "" } = clientConfig;
    if ((url === undefined) === (service === undefined)) {
      errors.push(requiredField(at, "exactly one of url or service is required"));
    } else if (url !== undefined) addAll(errors, webhookUrlErrors(url, `${at}.url`));
    else addAll(errors, webhookServiceErrors(service as ServiceReference, `${at}.service`));
    const problem = options.allowsBadCaBundle ? undefined : caBundleError(caBundle);
    if (problem !== undefined) errors.push(invalidField(`${at}.caBundle`, caBundle, problem));
  }
  addAll(errors, reviewErrors(reviews, reviewsAt, options.requiresKnownReviewVersion));
  return errors;
}

function reviewErrors(versions: readonly string[], path: string, requiresKnown: boolean): FieldError[] {
  if (versions.length === 0) return [requiredField(path)];
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  for (const [index, version] of versions.entries()) {
    if (seen.has(version)) errors.push(invalidField(`${path}[${index}]`, version, "duplicate version"));
    else pushInvalid(errors, `${path}[${index}]`, version, dns1035Label(version));
    seen.add(version);
  }
  if (requiresKnown && !versions.some((version) => REVIEW_VERSIONS.includes(version))) {
    errors.push(invalidField(path, versions, `must include at least one of ${REVIEW_VERSIONS.join(", ")}`));
  }
  return errors;
}
