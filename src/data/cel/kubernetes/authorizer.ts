import { dns1123Label, dns1123Subdomain } from "../../../base/api/names.ts";
import { spendOnText } from "../cost/work.ts";
import type { Library } from "../standard/library.ts";
import { boolType, stringType, structType, type Type } from "../values/types.ts";
import { CelError, Foreign, type Value } from "../values/value.ts";
import { declare, member } from "./declare.ts";
import { trimSpace } from "./strings.ts";

/** The attributes of an authorization check in an expression, for a path or a resource. */
export interface CheckAttributes {
  readonly verb: string;
  readonly path?: string;
  readonly group?: string;
  readonly resource?: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly fieldSelector?: string;
  readonly labelSelector?: string;
  /** Checks this service account instead of the user. */
  readonly serviceAccount?: { readonly namespace: string; readonly name: string };
}

/** The result of an authorization check. */
export interface CheckResult {
  readonly isAllowed: boolean;
  readonly reason: string;
  readonly error?: string;
}

/** Performs an authorization check synchronously. Provided by the caller of the evaluation. */
export type Check = (attributes: CheckAttributes) => CheckResult;

const kubernetes = (name: string) => structType(`kubernetes.authorization.${name}`);
const AUTHORIZER = kubernetes("Authorizer");
const PATH = kubernetes("PathCheck");
const GROUP = kubernetes("GroupCheck");
const RESOURCE = kubernetes("ResourceCheck");
const DECISION = kubernetes("Decision");

/** A step of authorizer.group("…").resource("…"): the attributes so far. */
class Step extends Foreign {
  readonly type: Type;
  readonly check: Check;
  readonly attributes: Omit<CheckAttributes, "verb">;
  constructor(type: Type, check: Check, attributes: Omit<CheckAttributes, "verb">) {
    super();
    this.type = type;
    this.check = check;
    this.attributes = attributes;
  }
  equals(other: Foreign): boolean {
    return this === other;
  }
  with(type: Type, more: Partial<CheckAttributes>): Step {
    return new Step(type, this.check, { ...this.attributes, ...more });
  }
}

class Decision extends Foreign {
  readonly result: CheckResult;
  constructor(result: CheckResult) {
    super();
    this.result = result;
  }
  get type() {
    return DECISION;
  }
  equals(other: Foreign): boolean {
    return this === other;
  }
}

/** The type of the variable `authorizer`. */
export const authorizerType = AUTHORIZER;
/** The type of the variable `authorizer.requestResource`. */
export const resourceCheckType = RESOURCE;

/** The value of the variable `authorizer`. */
export const authorizerValue = (check: Check): Value => new Step(AUTHORIZER, check, {});

/** The value of the variable `authorizer.requestResource`. */
export const resourceCheckValue = (check: Check, attributes: Omit<CheckAttributes, "verb">): Value =>
  new Step(RESOURCE, check, attributes);

function serviceAccount(authorizer: Step, namespace: string, name: string): Value {
  spendOnText(name, "each");
  spendOnText(namespace, "each");
  if (dns1123Subdomain(name).length > 0) return new CelError("Invalid service account name");
  if (dns1123Label(namespace).length > 0) return new CelError("Invalid service account namespace");
  return authorizer.with(AUTHORIZER, { serviceAccount: { namespace, name } });
}

const required = (field: "path" | "resource", type: Type) => (step: Step, text: string) => {
  spendOnText(text, "each");
  return trimSpace(text) === "" ? new CelError(`${field} must not be empty`) : step.with(type, { [field]: text });
};

const refinement = (field: keyof CheckAttributes, id: string) =>
  declare(
    field,
    member(id, [RESOURCE, stringType], RESOURCE, (step: Step, text: string) => step.with(RESOURCE, { [field]: text })),
  );

const check = (step: Step, verb: string) => new Decision(step.check({ ...step.attributes, verb }));

/** kubernetes.authz and kubernetes.authzSelectors. */
export const authorizerLibrary: Library = {
  name: "kubernetes.authz",
  functions: [
    declare("path", member("authorizer_path", [AUTHORIZER, stringType], PATH, required("path", PATH))),
    declare(
      "group",
      member("authorizer_group", [AUTHORIZER, stringType], GROUP, (step: Step, group: string) =>
        step.with(GROUP, { group }),
      ),
    ),
    declare(
      "serviceAccount",
      member("authorizer_serviceaccount", [AUTHORIZER, stringType, stringType], AUTHORIZER, serviceAccount),
    ),
    declare("resource", member("groupcheck_resource", [GROUP, stringType], RESOURCE, required("resource", RESOURCE))),
    refinement("subresource", "resourcecheck_subresource"),
    refinement("namespace", "resourcecheck_namespace"),
    refinement("name", "resourcecheck_name"),
    refinement("fieldSelector", "authorizer_fieldselector"),
    refinement("labelSelector", "authorizer_labelselector"),
    declare(
      "check",
      member("pathcheck_check", [PATH, stringType], DECISION, check),
      member("resourcecheck_check", [RESOURCE, stringType], DECISION, check),
    ),
    declare(
      "errored",
      member("decision_errored", [DECISION], boolType, ({ result }: Decision) => result.error !== undefined),
    ),
    declare(
      "error",
      member("decision_error", [DECISION], stringType, ({ result }: Decision) => result.error ?? ""),
    ),
    declare(
      "allowed",
      member("decision_allowed", [DECISION], boolType, ({ result }: Decision) => result.isAllowed),
    ),
    declare(
      "reason",
      member("decision_reason", [DECISION], stringType, ({ result }: Decision) => result.reason),
    ),
  ],
};
