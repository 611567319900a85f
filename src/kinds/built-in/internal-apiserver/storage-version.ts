import { duplicateField, type FieldError, invalidField, requiredField } from "../../../base/api/field-error.ts";
import { dns1035Label, qualifiedName, regexMessage } from "../../../base/api/names.ts";
import type { JsonObject, KubeObject } from "../../../base/api/object.ts";
import { addAll } from "../../../base/util/add-all.ts";
import { seenBefore } from "../../../base/util/seen-before.ts";
import type { ResourceHooks } from "../../../resources/model/definition.ts";
import { groupDotResource, nameHook } from "../own-names.ts";
import type { Condition } from "../shared-rules/conditions.ts";
import { pushInvalid, subdomainName } from "../shared-rules/formats.ts";

interface ServerVersions extends JsonObject {
  apiServerID?: string;
  encodingVersion?: string;
  decodableVersions?: string[];
  servedVersions?: string[];
}

interface StorageStatus extends JsonObject {
  storageVersions?: ServerVersions[];
  commonEncodingVersion?: string;
  conditions?: Condition[];
}

const EMPTY = "must be non-empty";
const LABEL_RULE =
  "a DNS-1035 label, which must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character";

/** Validates an `encodingVersion`, which may have a group. Upstream: `isValidAPIVersion`. */
function apiVersionTexts(apiVersion: string): string[] {
  const parts = apiVersion.split("/");
  if (parts.length > 2) {
    const rule = regexMessage(LABEL_RULE, "[a-z]([-a-z0-9]*[a-z0-9])?", "my-name", "abc-123");
    return [`an apiVersion is ${rule} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyVersion')`];
  }
  const version = parts.at(-1) ?? "";
  const group = parts.length === 2 ? (parts[0] ?? "") : undefined;
  const ofGroup = group === undefined ? [] : group === "" ? [EMPTY] : subdomainName(group);
  const ofVersion = version === "" ? [EMPTY] : dns1035Label(version, "characters");
  return [...ofGroup.map((text) => `group part: ${text}`), ...ofVersion.map((text) => `version part: ${text}`)];
}

function pushVersionErrors(errors: FieldError[], path: string, version: string): void {
  const texts = apiVersionTexts(version);
  if (texts.length > 0) errors.push(invalidField(path, version, texts.join(",")));
}

function serverErrors(server: ServerVersions, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const { apiServerID = "", encodingVersion = "", decodableVersions, servedVersions = [] } = server;
  const decodable = decodableVersions ?? [];
  pushInvalid(errors, `${path}.apiServerID`, apiServerID, subdomainName(apiServerID));
  pushVersionErrors(errors, `${path}.encodingVersion`, encodingVersion);
  for (const [index, version] of decodable.entries()) {
    pushVersionErrors(errors, `${path}.decodableVersions[${index}]`, version);
  }
  if (!decodable.includes(encodingVersion)) {
    const text = `decodableVersions must include encodingVersion ${encodingVersion}`;
    errors.push(invalidField(`${path}.decodableVersions`, decodableVersions, text));
  }
  for (const [index, version] of servedVersions.entries()) {
    const at = `${path}.servedVersions[${index}]`;
    pushVersionErrors(errors, at, version);
    if (decodable.includes(version)) continue;
    const text = `individual served version : ${version} must be included in decodableVersions : [${decodable.join(" ")}]`;
    errors.push(invalidField(at, version, text));
  }
  return errors;
}

function commonErrors(servers: readonly ServerVersions[], stated: string | undefined): FieldError[] {
  const path = "status.commonEncodingVersion";
  const [first, ...others] = servers.map(({ encodingVersion = "" }) => encodingVersion);
  const actual = others.every((version) => version === first) ? first : undefined;
  if (actual === stated) return [];
  if (actual === undefined) {
    const text =
      "should be nil if servers do not agree on the same encoding version, or if there is no server reporting the supported versions yet";
    return [invalidField(path, stated, text)];
  }
  return [
    invalidField(path, stated, `the ${stated === undefined ? "" : "actual "}common encoding version is ${actual}`),
  ];
}

function conditionErrors(conditions: readonly Condition[]): FieldError[] {
  const errors: FieldError[] = [];
  const seen = new Map<string, number>();
  for (const [index, { type = "", status = "", reason = "", message = "" }] of conditions.entries()) {
    // Compat: `validateStorageVersionCondition` gets the path `status`, so errors have `status[0]`, not
    // `status.conditions[0]`.
    const path = `status[${index}]`;
    const earlier = seen.get(type);
    if (earlier !== undefined) {
      const text = `the type of the condition is not unique, it also appears in conditions[${earlier}]`;
      errors.push(invalidField(`${path}.type`, type, text));
    }
    seen.set(type, index);
    pushInvalid(errors, `${path}.type`, type, qualifiedName(type));
    pushInvalid(errors, `${path}.status`, status, qualifiedName(status));
    if (reason === "") errors.push(requiredField(`${path}.reason`));
    if (message === "") errors.push(requiredField(`${path}.message`));
  }
  return errors;
}

function statusErrors(object: KubeObject): FieldError[] {
  const errors: FieldError[] = [];
  const status = (object.status as StorageStatus | undefined) ?? {};
  const { storageVersions: servers = [], commonEncodingVersion, conditions = [] } = status;
  const isSecond = seenBefore<string>();
  for (const [index, server] of servers.entries()) {
    const path = `status.storageVersions[${index}]`;
    const id = server.apiServerID ?? "";
    if (isSecond(id)) errors.push(duplicateField(`${path}.apiServerID`, id));
    addAll(errors, serverErrors(server, path));
  }
  return [...errors, ...commonErrors(servers, commonEncodingVersion), ...conditionErrors(conditions)];
}

const named = nameHook(groupDotResource);

/** StorageVersion: which versions of a resource the servers of a cluster encode and decode. */
export const storageVersionHooks: ResourceHooks = {
  validate(next, previous, context) {
    return context.subresource === "status" ? statusErrors(next) : named.validate(next, previous, context);
  },
};
