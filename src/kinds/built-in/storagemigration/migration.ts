import { type FieldError, invalidField, requiredField } from "../../../base/api/field-error.ts";
import { dns1035Label } from "../../../base/api/names.ts";
import { isObject, type Json, type JsonObject, type KubeObject } from "../../../base/api/object.ts";
import { addAll } from "../../../base/util/add-all.ts";
import type { ResourceHooks } from "../../../resources/model/definition.ts";
import { isConditionTrue } from "../cells.ts";
import { validateConditions } from "../shared-rules/conditions.ts";
import { subdomainName } from "../shared-rules/formats.ts";
import { asGo } from "../shared-rules/go-print.ts";
import { IMMUTABLE, immutable } from "../shared-rules/immutable.ts";

interface MigrationSpec extends JsonObject {
  resource?: { group?: string; resource?: string };
}

interface MigrationStatus extends JsonObject {
  resourceVersion?: string;
  conditions?: Json[];
}

const SPEC_SHAPE = [["Resource", "resource"]] as const;

const statusOf = ({ status }: KubeObject) => (isObject(status) ? status : {}) as MigrationStatus;

function specErrors({ resource: { group = "", resource = "" } = {} }: MigrationSpec): FieldError[] {
  const errors: FieldError[] = [];
  const check = (member: string, value: string, texts: readonly string[]) => {
    if (texts.length > 0) errors.push(invalidField(`spec.resource.${member}`, value, texts.join(",")));
  };
  if (resource === "") errors.push(requiredField("spec.resource.resource", "resource is required to be set"));
  else check("resource", resource, dns1035Label(resource, "characters"));
  if (group !== "") check("group", group, subdomainName(group));
  return errors;
}

function statusErrors(next: KubeObject, previous: KubeObject): FieldError[] {
  const { resourceVersion = "", conditions } = statusOf(next);
  const { resourceVersion: before = "" } = statusOf(previous);
  const errors: FieldError[] = [];
  if (resourceVersion !== "" && !/^[1-9][0-9]*$/.test(resourceVersion)) {
    const text = `resource version is not well formed: ${resourceVersion}`;
    errors.push(invalidField("status.resourceVersion", resourceVersion, text));
  }
  addAll(errors, validateConditions(conditions, "status.conditions"));
  if (before !== "" && before !== resourceVersion) {
    errors.push(invalidField("status.resourceVersion", resourceVersion, IMMUTABLE));
  }
  const say = (text: string) => errors.push(invalidField("status.conditions", conditions, text));
  if (isConditionTrue(next, "Succeeded") && isConditionTrue(next, "Failed")) {
    say("Both success and failed conditions cannot be true at the same time");
  }
  for (const [type, name] of [
    ["Succeeded", "Success"],
    ["Failed", "Failed"],
  ] as const) {
    const isLost = isConditionTrue(previous, type) && !isConditionTrue(next, type);
    if (isLost) say(`${name} condition cannot be set to false once it is true`);
  }
  return errors;
}

/** StorageVersionMigration: `spec.resource` is immutable; the conditions Succeeded and Failed are final. */
export const migrationHooks: ResourceHooks = {
  validate(next, previous, { subresource }) {
    if (subresource === "status" && previous) return statusErrors(next, previous);
    const errors = specErrors((next.spec ?? {}) as MigrationSpec);
    if (!previous) return errors;
    return [...errors, ...immutable(next.spec, previous.spec, "spec", (spec) => asGo(spec, SPEC_SHAPE))];
  },
};
