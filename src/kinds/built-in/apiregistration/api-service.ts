import { type FieldError, invalidField, notSupportedField, requiredField } from "../../../base/api/field-error.ts";
import { dns1035Label } from "../../../base/api/names.ts";
import type { JsonObject, KubeObject } from "../../../base/api/object.ts";
import type { ResourceHooks } from "../../../resources/model/definition.ts";
import { printTime } from "../../../resources/write/metadata.ts";
import { versionDotGroup } from "../own-names.ts";
import type { Condition } from "../shared-rules/conditions.ts";
import { portNumber, pushInvalid, subdomainName } from "../shared-rules/formats.ts";
import type { ServiceReference } from "../shared-rules/webhook-client.ts";

interface ApiServiceSpec extends JsonObject {
  group?: string;
  version?: string;
  groupPriorityMinimum?: number;
  versionPriority?: number;
  service?: ServiceReference | null;
  caBundle?: string;
  insecureSkipTLSVerify?: boolean;
}

const MAX_GROUP_PRIORITY = 20_000;
const MAX_VERSION_PRIORITY = 1000;
const STATUSES = ["True", "False", "Unknown"];

const specOf = (service: KubeObject): ApiServiceSpec => (service.spec as ApiServiceSpec | undefined) ?? {};

function nameErrors(service: KubeObject): FieldError[] {
  const { name = "", generateName = "" } = service.metadata;
  const check = (field: string, value: string) =>
    value === "" ? [] : versionDotGroup(value, service).map((text) => invalidField(`metadata.${field}`, value, text));
  return [...check("generateName", generateName), ...check("name", name)];
}

function pushPriorityErrors(errors: FieldError[], path: string, value: number, highest: number): void {
  if (value > 0 && value <= highest) return;
  errors.push(invalidField(path, value, `must be positive and less than ${highest}`));
}

function pushLocalErrors(errors: FieldError[], { caBundle = "", insecureSkipTLSVerify = false }: ApiServiceSpec): void {
  if (caBundle !== "") {
    const shown = `${Buffer.byteLength(caBundle, "base64")} bytes`;
    errors.push(invalidField("spec.caBundle", shown, "local APIServices may not have a caBundle"));
  }
  if (insecureSkipTLSVerify) {
    const text = "local APIServices may not have insecureSkipTLSVerify";
    errors.push(invalidField("spec.insecureSkipTLSVerify", true, text));
  }
}

function pushRemoteErrors(errors: FieldError[], spec: ApiServiceSpec, service: ServiceReference): void {
  const { namespace = "", name = "", port = 0 } = service;
  if (namespace === "") errors.push(requiredField("spec.service.namespace"));
  if (name === "") errors.push(requiredField("spec.service.name"));
  const texts = portNumber(port);
  if (texts.length > 0) {
    errors.push(invalidField("spec.service.port", port, `port is not valid: ${texts.join(", ")}`));
  }
  if (spec.insecureSkipTLSVerify && spec.caBundle) {
    errors.push(invalidField("spec.insecureSkipTLSVerify", true, "may not be true if caBundle is present"));
  }
}

function specErrors(spec: ApiServiceSpec): FieldError[] {
  const errors: FieldError[] = [];
  const { group = "", version = "", groupPriorityMinimum = 0, versionPriority = 0 } = spec;
  if (group !== "") pushInvalid(errors, "spec.group", group, subdomainName(group));
  else if (version !== "v1") {
    errors.push(requiredField("spec.group", "only v1 may have an empty group and it better be legacy kube"));
  }
  pushInvalid(errors, "spec.version", version, dns1035Label(version, "characters"));
  pushPriorityErrors(errors, "spec.groupPriorityMinimum", groupPriorityMinimum, MAX_GROUP_PRIORITY);
  pushPriorityErrors(errors, "spec.versionPriority", versionPriority, MAX_VERSION_PRIORITY);
  if (spec.service) pushRemoteErrors(errors, spec, spec.service);
  else pushLocalErrors(errors, spec);
  return errors;
}

function statusErrors(service: KubeObject): FieldError[] {
  const { conditions = [] } = (service.status as { conditions?: Condition[] } | undefined) ?? {};
  return conditions.flatMap(({ status = "" }, index) =>
    STATUSES.includes(status) ? [] : [notSupportedField(`status.conditions[${index}].status`, status, STATUSES)],
  );
}

/** APIService: a group version that this server or a Service serves. */
export const apiServiceHooks: ResourceHooks = {
  prepare(next, previous, { now }) {
    if (previous || specOf(next).service) return;
    const condition = {
      type: "Available",
      status: "True",
      lastTransitionTime: printTime(now),
      reason: "Local",
      message: "Local APIServices are always available",
    };
    next.status = { conditions: [condition] };
  },
  validate(next, _previous, { subresource }) {
    if (subresource === "status") return statusErrors(next);
    // Compat: `metadata.name` must be `<version>.<group>` of the spec in updates too, not only on create.
    return [...nameErrors(next), ...specErrors(specOf(next))];
  },
};
