import {
  type FieldError,
  forbiddenField,
  invalidField,
  notSupportedField,
  requiredField,
  tooLongField,
} from "../../../base/api/field-error.ts";
import { byteLength, pathSegment, regexMessage } from "../../../base/api/names.ts";
import { isObject, type JsonObject, type KubeObject } from "../../../base/api/object.ts";
import type { ResourceHooks } from "../../../resources/model/definition.ts";
import { declaredHook } from "../shared-rules/declared.ts";
import { labelName, pushInvalid, subdomainName } from "../shared-rules/formats.ts";
import { immutable } from "../shared-rules/immutable.ts";

interface Parameters extends JsonObject {
  apiGroup?: string;
  kind?: string;
  name?: string;
  scope?: string;
  namespace?: string;
}

interface ClassSpec extends JsonObject {
  controller?: string;
  parameters?: Parameters;
}

const MAX_CONTROLLER = 250;
const SCOPES = ["Cluster", "Namespace"];
const PATH_PATTERN = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+";
const PATH = new RegExp(`^${PATH_PATTERN}$`);

const declaredErrors = declaredHook(
  { IngressClassParametersReference: { fields: { kind: { required: true }, name: { required: true } } } },
  (version) => `io.k8s.api.networking.${version}.IngressClass`,
);

const specOf = ({ spec }: KubeObject) => (isObject(spec) ? spec : {}) as ClassSpec;

/** Validates `spec.controller`: a domain-prefixed path such as "example.com/name". */
function domainPathErrors(value: string, path: string): FieldError[] {
  if (value === "") return [requiredField(path)];
  const slash = value.indexOf("/");
  const [host, rest] = [value.slice(0, slash), value.slice(slash + 1)];
  if (slash <= 0 || rest === "") {
    return [invalidField(path, value, 'must be a domain-prefixed path (such as "acme.io/foo")')];
  }
  const errors = subdomainName(host).map((text) => invalidField(path, host, text));
  if (!PATH.test(rest)) errors.push(invalidField(path, rest, regexMessage("Invalid path", PATH_PATTERN)));
  return errors;
}

function parameterErrors(parameters: Parameters, path: string): FieldError[] {
  const { apiGroup, kind = "", name = "", scope, namespace } = parameters;
  const errors: FieldError[] = [];
  if (apiGroup !== undefined) pushInvalid(errors, `${path}.apiGroup`, apiGroup, subdomainName(apiGroup));
  if (kind !== "") pushInvalid(errors, `${path}.kind`, kind, pathSegment(kind));
  if (name !== "") pushInvalid(errors, `${path}.name`, name, pathSegment(name));
  if (scope === undefined) errors.push(requiredField(`${path}.scope`));
  else if (!SCOPES.includes(scope)) errors.push(notSupportedField(`${path}.scope`, scope, SCOPES));
  else if (scope === "Cluster") {
    if (namespace !== undefined) {
      errors.push(forbiddenField(`${path}.namespace`, "`parameters.scope` is set to 'Cluster'"));
    }
  } else if (namespace === undefined) {
    errors.push(requiredField(`${path}.namespace`, "`parameters.scope` is set to 'Namespace'"));
  } else pushInvalid(errors, `${path}.namespace`, namespace, labelName(namespace));
  return errors;
}

/** IngressClass: `spec.controller` is immutable, `spec.parameters` may change. */
export const ingressClassHooks: ResourceHooks = {
  validate(next, previous, context) {
    const { controller = "", parameters } = specOf(next);
    const path = "spec.controller";
    return [
      ...(previous ? immutable(controller, specOf(previous).controller ?? "", path) : []),
      ...(byteLength(controller) > MAX_CONTROLLER ? [tooLongField(path, MAX_CONTROLLER)] : []),
      ...domainPathErrors(controller, path),
      ...(parameters ? parameterErrors(parameters, "spec.parameters") : []),
      ...declaredErrors(next, previous, context),
    ];
  },
};
