import { type FieldError, invalidField, requiredField } from "../../../../base/api/field-error.ts";
import { configMapKey } from "../../../../base/api/names.ts";
import type {
  ConfigMapKeySelector,
  Container,
  EnvFromSource,
  EnvVar,
  EnvVarSource,
  FileKeySelector,
} from "../../../types/container.ts";
import { pushBackstepErrors } from "../../shared-rules/file-paths.ts";
import { environmentName, labelName, pushInvalid, subdomainName } from "../../shared-rules/formats.ts";
import { checkFieldRef, checkResourceRef, ENVIRONMENT_FIELDS } from "./downward-api-validation.ts";

/** Validates `env` and `envFrom` of a container. */
export function validateEnvironment(errors: FieldError[], { env = [], envFrom = [] }: Container, path: string): void {
  for (const [index, variable] of env.entries()) {
    const at = `${path}.env[${index}]`;
    const { name = "" } = variable;
    if (name === "") errors.push(requiredField(`${at}.name`));
    else pushInvalid(errors, `${at}.name`, name, environmentName(name));
    if (variable.valueFrom) checkSource(errors, variable, variable.valueFrom, `${at}.valueFrom`);
  }
  for (const [index, source] of envFrom.entries()) checkEnvFrom(errors, source, `${path}.envFrom`, index);
}

const ONE_OF = "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`";

function checkSource(errors: FieldError[], { value = "" }: EnvVar, source: EnvVarSource, path: string): void {
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef } = source;
  if (fieldRef) checkFieldRef(errors, fieldRef, `${path}.fieldRef`, ENVIRONMENT_FIELDS);
  if (resourceFieldRef) checkResourceRef(errors, resourceFieldRef, `${path}.resourceFieldRef`, false);
  if (configMapKeyRef) checkKeyRef(errors, configMapKeyRef, `${path}.configMapKeyRef`);
  if (secretKeyRef) checkKeyRef(errors, secretKeyRef, `${path}.secretKeyRef`);
  if (fileKeyRef) checkFileRef(errors, fileKeyRef, `${path}.fileKeyRef`);
  const { length } = Object.keys(source);
  if (length === 0) errors.push(invalidField(path, "", ONE_OF));
  else if (value !== "") errors.push(invalidField(path, "", "may not be specified when `value` is not empty"));
  else if (length > 1) errors.push(invalidField(path, "", "may not have more than one field specified at a time"));
}

function checkKeyRef(errors: FieldError[], { name = "", key = "" }: ConfigMapKeySelector, path: string): void {
  pushInvalid(errors, `${path}.name`, name, subdomainName(name));
  if (key === "") errors.push(requiredField(`${path}.key`));
  else pushInvalid(errors, `${path}.key`, key, configMapKey(key));
}

function checkFileRef(errors: FieldError[], reference: FileKeySelector, path: string): void {
  const { key = "", volumeName = "", path: file = "" } = reference;
  if (key === "") errors.push(requiredField(`${path}.key`));
  else pushInvalid(errors, `${path}.key`, key, environmentName(key));
  if (volumeName === "") errors.push(requiredField(`${path}.volumeName`));
  else pushInvalid(errors, `${path}.volumeName`, volumeName, labelName(volumeName));
  if (file === "") errors.push(requiredField(`${path}.path`));
  else pushBackstepErrors(errors, `${path}.path`, file);
}

function checkEnvFrom(errors: FieldError[], source: EnvFromSource, path: string, index: number): void {
  const at = `${path}[${index}]`;
  const { prefix = "", configMapRef, secretRef } = source;
  if (prefix !== "") pushInvalid(errors, `${at}.prefix`, prefix, environmentName(prefix));
  if (configMapRef) checkReference(errors, configMapRef.name ?? "", `${at}.configMapRef.name`);
  if (secretRef) checkReference(errors, secretRef.name ?? "", `${at}.secretRef.name`);
  // Compat: errors about neither or both of `configMapRef` and `secretRef` have the path `envFrom` without an index.
  if (!configMapRef && !secretRef) {
    errors.push(invalidField(path, "", "must specify one of: `configMapRef` or `secretRef`"));
  } else if (configMapRef && secretRef) {
    errors.push(invalidField(path, "", "may not have more than one field specified at a time"));
  }
}

function checkReference(errors: FieldError[], name: string, path: string): void {
  if (name === "") errors.push(requiredField(path));
  // Compat: upstream calls `ValidateConfigMapName` and `ValidateSecretName` with prefix=true, so the name may end in a
  // dash.
  else pushInvalid(errors, path, name, subdomainName(name.length > 1 ? name.replace(/-$/, "a") : name));
}
