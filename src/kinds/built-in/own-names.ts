import { type FieldError, invalidField } from "../../base/api/field-error.ts";
import { dns1123Subdomain, pathSegment } from "../../base/api/names.ts";
import type { KubeObject } from "../../base/api/object.ts";
import { quote } from "../../base/go/quote.ts";
import type { ResourceHooks } from "../../resources/model/definition.ts";
import { readText } from "./cells.ts";

/** Validates `metadata.name` of an object that is being created. Returns no errors if it is valid. */
export type NameCheck = (name: string, object: KubeObject) => string[];

/** A validate hook that checks `metadata.name` when objects are created. Names cannot change later. */
export function nameHook(check: NameCheck): Required<Pick<ResourceHooks, "validate">> {
  return {
    validate(next: KubeObject, previous: KubeObject | undefined): FieldError[] {
      const { name } = next.metadata;
      if (previous !== undefined || name === undefined || name === "") return [];
      return check(name, next).map((detail) => invalidField("metadata.name", name, detail));
    },
  };
}

/** Limits names, so that the names of created objects can have a suffix, as CronJobs need it. */
export function atMostCharacters(max: number): NameCheck {
  return (name) => (name.length > max ? [`must be no more than ${max} characters`] : []);
}

/** `<plural>.<group>` of a CustomResourceDefinition. */
export const pluralDotGroup: NameCheck = (name, object) => {
  const wanted = `${readText(object, ".spec.names.plural")}.${readText(object, ".spec.group")}`;
  return [...dns1123Subdomain(name), ...(name === wanted ? [] : ['must be spec.names.plural+"."+spec.group'])];
};

/** `<version>.<group>` of an APIService. */
export const versionDotGroup: NameCheck = (name, object) => {
  const errors = pathSegment(name);
  if (errors.length > 0) return errors;
  const wanted = `${readText(object, ".spec.version")}.${readText(object, ".spec.group")}`;
  return name === wanted ? [] : [`must be \`spec.version+"."+spec.group\`: ${quote(wanted)}`];
};

const RESOURCE = /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/;

/** `<group>.<resource>` of a StorageVersion. */
export const groupDotResource: NameCheck = (name) => {
  const dot = name.lastIndexOf(".");
  if (dot < 0) return ["name must be in the form of <group>.<resource>"];
  const errors = dns1123Subdomain(name.slice(0, dot)).map((text) => `the group segment ${text}`);
  if (!RESOURCE.test(name.slice(dot + 1))) {
    errors.push(
      "the resource segment a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
    );
  }
  return errors;
};
