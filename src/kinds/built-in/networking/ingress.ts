import { type FieldError, invalidField, notSupportedField, requiredField } from "../../../base/api/field-error.ts";
import { byteLength, pathSegment, regexMessage } from "../../../base/api/names.ts";
import { isObject, type JsonObject, type KubeObject } from "../../../base/api/object.ts";
import { parseLooseAddress } from "../../../base/net/ip-address.ts";
import { addAll } from "../../../base/util/add-all.ts";
import type { ResourceHooks } from "../../../resources/model/definition.ts";
import { isSentEmpty } from "../shared-rules/empties.ts";
import { labelName, portName, portNumber, pushInvalid, subdomainName } from "../shared-rules/formats.ts";
import { addressWarnings, pushAddressErrors } from "../shared-rules/ip.ts";

interface Reference extends JsonObject {
  apiGroup?: string | null;
  kind?: string;
  name?: string;
}

interface Backend extends JsonObject {
  resource?: Reference;
  service?: { name?: string; port?: { name?: string; number?: number } };
}

interface HttpPath extends JsonObject {
  path?: string;
  pathType?: string | null;
  backend?: Backend;
}

interface IngressRule extends JsonObject {
  host?: string;
  http?: { paths?: HttpPath[] | null };
}

interface IngressSpec extends JsonObject {
  ingressClassName?: string;
  defaultBackend?: Backend;
  rules?: IngressRule[];
  tls?: { hosts?: string[]; secretName?: string }[];
}

interface LoadBalancerIngress extends JsonObject {
  ip?: string;
  hostname?: string;
}

/** Violations of the stored Ingress, which are tolerated. */
interface Tolerance {
  readonly invalidSecretName: boolean;
  readonly invalidWildcardRule: boolean;
}

const CLASS_ANNOTATION = "kubernetes.io/ingress.class";
const PATH_TYPES = ["Exact", "ImplementationSpecific", "Prefix"];
const BAD_SEQUENCES = ["//", "/./", "/../", "%2f", "%2F"];
const BAD_ENDINGS = ["/..", "/."];
const WILDCARD_PATTERN = "\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
const WILDCARD = new RegExp(`^${WILDCARD_PATTERN}$`);
const NOT_AN_ADDRESS = "must be a DNS name, not an IP address";

const specOf = ({ spec }: KubeObject) => (isObject(spec) ? spec : {}) as IngressSpec;

function pointsOf({ status }: KubeObject): LoadBalancerIngress[] {
  const { loadBalancer } = isObject(status) ? (status as { loadBalancer?: { ingress?: LoadBalancerIngress[] } }) : {};
  return loadBalancer?.ingress ?? [];
}

function wildcardSubdomain(value: string): string[] {
  const texts = byteLength(value) > 253 ? ["must be no more than 253 characters"] : [];
  if (!WILDCARD.test(value)) {
    const rule =
      "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character";
    texts.push(regexMessage(rule, WILDCARD_PATTERN, "*.example.com"));
  }
  return texts;
}

function hostErrors(host: string, path: string): FieldError[] {
  const texts = host.includes("*") ? wildcardSubdomain(host) : subdomainName(host);
  return texts.map((text) => invalidField(path, host, text));
}

/** Validates a TypedLocalObjectReference: `apiGroup`, `kind` and `name`. */
function referenceErrors({ apiGroup, kind = "", name = "" }: Reference, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (typeof apiGroup === "string") pushInvalid(errors, `${path}.apiGroup`, apiGroup, subdomainName(apiGroup));
  for (const [member, value] of Object.entries({ kind, name })) {
    if (value === "") errors.push(requiredField(`${path}.${member}`));
    else pushInvalid(errors, `${path}.${member}`, value, pathSegment(value));
  }
  return errors;
}

function backendErrors({ resource, service }: Backend, path: string): FieldError[] {
  if (resource && service) return [invalidField(path, "", "cannot set both resource and service backends")];
  if (resource) return referenceErrors(resource, `${path}.resource`);
  if (!service) return [invalidField(path, "", "resource or service backend is required")];
  const errors: FieldError[] = [];
  const { name = "", port = {} } = service;
  if (name === "") errors.push(requiredField(`${path}.service.name`));
  else pushInvalid(errors, `${path}.service.name`, name, labelName(name));
  if (port.name && port.number) errors.push(invalidField(path, "", "cannot set both port name & port number"));
  else if (port.name) pushInvalid(errors, `${path}.service.port.name`, port.name, portName(port.name));
  else if (port.number) pushInvalid(errors, `${path}.service.port.number`, port.number, portNumber(port.number));
  else errors.push(requiredField(path, "port name or number is required"));
  return errors;
}

function pathErrors({ path: text = "", pathType, backend = {} }: HttpPath, path: string): FieldError[] {
  if (pathType === undefined || pathType === null) {
    return [requiredField(`${path}.pathType`, "pathType must be specified")];
  }
  const errors: FieldError[] = [];
  const say = (detail: string) => errors.push(invalidField(`${path}.path`, text, detail));
  if (!PATH_TYPES.includes(pathType)) {
    errors.push(notSupportedField(`${path}.pathType`, pathType, PATH_TYPES));
  } else if (pathType === "ImplementationSpecific") {
    if (text !== "" && !text.startsWith("/")) say("must be an absolute path");
  } else {
    if (!text.startsWith("/")) say("must be an absolute path");
    for (const bad of BAD_SEQUENCES) if (text.includes(bad)) say(`must not contain '${bad}'`);
    for (const bad of BAD_ENDINGS) if (text.endsWith(bad)) say(`cannot end with '${bad}'`);
  }
  return [...errors, ...backendErrors(backend, `${path}.backend`)];
}

function httpErrors({ http }: IngressRule, path: string): FieldError[] {
  if (!http) return [];
  const paths = http.paths ?? [];
  if (paths.length === 0) return [requiredField(`${path}.http.paths`)];
  return paths.flatMap((one, index) => pathErrors(one, `${path}.http.paths[${index}]`));
}

function ruleErrors(rule: IngressRule, path: string, tolerance: Tolerance): FieldError[] {
  const { host = "" } = rule;
  const errors: FieldError[] = [];
  if (host !== "") {
    if (parseLooseAddress(host)) errors.push(invalidField(`${path}.host`, host, NOT_AN_ADDRESS));
    addAll(errors, hostErrors(host, `${path}.host`));
  }
  return host.includes("*") && tolerance.invalidWildcardRule ? errors : [...errors, ...httpErrors(rule, path)];
}

function specErrors(spec: IngressSpec, tolerance: Tolerance, areRulesSent: boolean): FieldError[] {
  const { rules = [], defaultBackend, tls = [], ingressClassName } = spec;
  const errors: FieldError[] = [];
  if (rules.length === 0 && !defaultBackend) {
    errors.push(invalidField("spec", areRulesSent ? [] : null, "either `defaultBackend` or `rules` must be specified"));
  }
  if (defaultBackend) addAll(errors, backendErrors(defaultBackend, "spec.defaultBackend"));
  addAll(
    errors,
    rules.flatMap((rule, index) => ruleErrors(rule, `spec.rules[${index}]`, tolerance)),
  );
  for (const [index, { hosts = [], secretName = "" }] of tls.entries()) {
    const path = `spec.tls[${index}]`;
    addAll(
      errors,
      hosts.flatMap((host, at) => hostErrors(host, `${path}.hosts[${at}]`)),
    );
    if (secretName !== "" && !tolerance.invalidSecretName) {
      pushInvalid(errors, `${path}.secretName`, secretName, subdomainName(secretName));
    }
  }
  if (ingressClassName !== undefined) {
    pushInvalid(errors, "spec.ingressClassName", ingressClassName, subdomainName(ingressClassName));
  }
  return errors;
}

function toleranceFor(previous: KubeObject | undefined): Tolerance {
  if (!previous) return { invalidSecretName: false, invalidWildcardRule: false };
  const { tls = [], rules = [] } = specOf(previous);
  return {
    invalidSecretName: tls.some(({ secretName = "" }) => secretName !== "" && subdomainName(secretName).length > 0),
    invalidWildcardRule: rules.some((rule) => rule.host?.includes("*") && httpErrors(rule, "").length > 0),
  };
}

function statusErrors(next: KubeObject, previous: KubeObject): FieldError[] {
  const known = new Set(pointsOf(previous).map(({ ip }) => ip ?? ""));
  const errors: FieldError[] = [];
  for (const [index, { ip = "", hostname = "" }] of pointsOf(next).entries()) {
    const path = `status.loadBalancer.ingress[${index}]`;
    if (ip !== "") pushAddressErrors(errors, `${path}.ip`, ip, known);
    if (hostname === "") continue;
    pushInvalid(errors, `${path}.hostname`, hostname, subdomainName(hostname));
    if (parseLooseAddress(hostname)) errors.push(invalidField(`${path}.hostname`, hostname, NOT_AN_ADDRESS));
  }
  return errors;
}

/** Ingress: rules that route requests from outside to Services. */
export const ingressHooks: ResourceHooks = {
  validate(next, previous, context) {
    if (previous && context.subresource === "status") return statusErrors(next, previous);
    const errors = specErrors(specOf(next), toleranceFor(previous), isSentEmpty(context, "spec.rules"));
    const annotation = next.metadata.annotations?.[CLASS_ANNOTATION];
    const { ingressClassName } = specOf(next);
    if (!previous && annotation !== undefined && ingressClassName !== undefined && annotation !== ingressClassName) {
      const text = "must match `ingressClassName` when both are specified";
      errors.push(invalidField(`annotations.${CLASS_ANNOTATION}`, annotation, text));
    }
    return errors;
  },
  warn(next, previous, { subresource }) {
    if (previous && subresource === "status") {
      return pointsOf(next).flatMap(({ ip }, index) =>
        ip ? addressWarnings(`status.loadBalancer.ingress[${index}]`, ip) : [],
      );
    }
    const isOld = next.metadata.annotations?.[CLASS_ANNOTATION] !== undefined;
    if (previous || !isOld || specOf(next).ingressClassName !== undefined) return [];
    return [`annotation "${CLASS_ANNOTATION}" is deprecated, please use 'spec.ingressClassName' instead`];
  },
};
