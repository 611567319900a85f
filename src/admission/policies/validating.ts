import { ApiError, refusedByPolicy } from "../../api/api-error.ts";
import type { Authorizer } from "../../api/attributes.ts";
import type { KubeObject } from "../../api/object.ts";
import type { Resources } from "../../resources/resources.ts";
import { AuthorizerAnswers } from "../expressions/authorizer-answers.ts";
import { matchedApiVersion } from "../expressions/request-variable.ts";
import { refusal } from "../matches.ts";
import { isPolicyConfiguration, isReview } from "../matching/exempt.ts";
import type { Match } from "../matching/match-index.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../plugin.ts";
import { inVersion, type VersionedObjects } from "../versioned.ts";
import { AnnotationCollector, publishFailures, type ValidationFailure } from "./audit-annotations.ts";
import { namespaceOf, policyInputs } from "./inputs.ts";
import { ConfigurationError, collectParams, NO_PARAMS } from "./params.ts";
import { type PolicyBinding, type PolicyHook, PolicySource } from "./policy-source.ts";
import { type Decision, type ValidateResult, Validator } from "./validator.ts";

/** What policies need to judge requests. */
export interface PolicyContext {
  readonly resources: Resources;
  readonly authorizer: Authorizer;
}

type Hook = PolicyHook<Validator>;

/** The ValidatingAdmissionPolicies that are stored, and their bindings. */
export function validatingSource(resources: Resources): PolicySource<Validator> {
  const kinds = { policies: "validatingadmissionpolicies", bindings: "validatingadmissionpolicybindings" };
  return new PolicySource(resources, kinds, (spec) => new Validator(spec));
}

/**
 * ValidatingAdmissionPolicy: evaluates all policies that a request concerns; the first that refuses it decides what the
 * client is told.
 */
export function validatingPolicies(source: PolicySource<Validator>, context: PolicyContext): AdmissionPlugin {
  return {
    name: "ValidatingAdmissionPolicy",
    handles: (request) => source.find(request).length > 0 && !isReview(request) && !isPolicyConfiguration(request),
    async validate(request) {
      const run = new Judgement(request, context);
      for (const match of source.find(request)) await run.consult(match);
      run.conclude();
    },
  };
}

/** Upstream: `policyDecisionWithMetadata`. */
interface Denial {
  readonly policy: string;
  readonly binding: string | undefined;
  readonly decision: Pick<Decision, "message" | "reason">;
}

/** All policies on one request. Upstream: `dispatcher.Dispatch`. */
class Judgement {
  readonly #request: AdmissionRequest;
  readonly #context: PolicyContext;
  readonly #answers: AuthorizerAnswers;
  readonly #versions = new Map<string, VersionedObjects>();
  readonly #denials: Denial[] = [];
  readonly #failures: ValidationFailure[] = [];
  #namespace: { readonly found: KubeObject | undefined } | undefined;

  constructor(request: AdmissionRequest, context: PolicyContext) {
    this.#request = request;
    this.#context = context;
    this.#answers = new AuthorizerAnswers(context.authorizer, request.user);
  }

  async consult(match: Match<Hook>): Promise<void> {
    const { item: hook } = match;
    const { policy } = hook;
    const { access } = this.#context.resources;
    const annotations = new AnnotationCollector();
    try {
      const { selectors } = policy;
      if (!selectors.areEmpty && !(await selectors.match(this.#request, this.#request, access))) return;
      hook.paramResource();
    } catch (error) {
      this.#misconfigured(error, hook, undefined);
      return;
    }
    for (const binding of hook.boundTo(this.#request)) {
      let params: readonly (KubeObject | undefined)[];
      let objects: VersionedObjects;
      try {
        const { selectors } = binding;
        if (!selectors.areEmpty && !(await selectors.match(this.#request, this.#request, access))) continue;
        params = await this.#paramsOf(hook, binding);
        objects = await this.#objectsIn(matchedApiVersion(match.matched));
      } catch (error) {
        this.#misconfigured(error, hook, binding);
        continue;
      }
      const subject = {
        request: this.#request,
        matched: match.matched,
        objects,
        namespace: await this.#namespaceObject(),
        answers: this.#answers,
      };
      for (const one of params) {
        const inputs = policyInputs({ ...subject, params: one });
        const result = await this.#answers.complete(() => policy.evaluator.validate(inputs));
        this.#collect(hook, binding, result, annotations);
      }
    }
    annotations.publish(policy.name, this.#request);
  }

  async #paramsOf(hook: Hook, { spec: { paramRef } }: PolicyBinding): Promise<readonly (KubeObject | undefined)[]> {
    const resource = hook.paramResource();
    if (!resource || !paramRef) return NO_PARAMS;
    return collectParams(this.#context.resources, resource, paramRef, this.#request.namespace);
  }

  async #objectsIn(apiVersion: string): Promise<VersionedObjects> {
    const known = this.#versions.get(apiVersion);
    if (known) return known;
    const made = await converted(this.#request, apiVersion);
    this.#versions.set(apiVersion, made);
    return made;
  }

  async #namespaceObject(): Promise<KubeObject | undefined> {
    this.#namespace ??= { found: await namespaceOf(this.#request, this.#context.resources.access) };
    return this.#namespace.found;
  }

  #misconfigured(error: unknown, { policy, failsOpen }: Hook, binding: PolicyBinding | undefined): void {
    if (!(error instanceof ConfigurationError) && !(error instanceof ApiError)) throw error;
    if (failsOpen) return;
    const what = binding ? "binding" : "policy";
    const decision = { message: `failed to configure ${what}: ${error.message}` };
    this.#denials.push({ policy: policy.name, binding: binding?.name, decision });
  }

  #collect(
    { policy }: Hook,
    binding: PolicyBinding,
    { decisions, annotations }: ValidateResult,
    collector: AnnotationCollector,
  ): void {
    for (const [index, decision] of decisions.entries()) {
      if (decision.action === "deny") this.#enforce(policy.name, binding, index, decision);
    }
    for (const { key, value, error } of annotations) {
      if (error !== undefined) {
        this.#denials.push({ policy: policy.name, binding: binding.name, decision: { message: error } });
      } else if (value !== undefined) collector.add(key, value);
    }
  }

  #enforce(policy: string, { name, spec }: PolicyBinding, expressionIndex: number, decision: Decision): void {
    const { validationActions = [], policyName = "" } = spec;
    const { message } = decision;
    for (const action of validationActions) {
      if (action === "Deny") this.#denials.push({ policy, binding: name, decision });
      else if (action === "Audit") {
        this.#failures.push({ message, policy: policyName, binding: name, expressionIndex, validationActions });
      } else if (action === "Warn") {
        const text = `Validation failed for ValidatingAdmissionPolicy '${policy}' with binding '${name}': ${message}`;
        this.#request.warn(text);
      }
    }
  }

  /** Writes down what is to be audited, and throws what the first refusal says. */
  conclude(): void {
    publishFailures(this.#request, this.#failures);
    const [first] = this.#denials;
    if (first) throw denied(this.#request, first);
  }
}

function denied(request: AdmissionRequest, { policy, binding, decision }: Denial): ApiError {
  const by = binding === undefined ? "" : ` with binding '${binding}'`;
  const message = `ValidatingAdmissionPolicy '${policy}'${by} denied request: ${decision.message}`;
  return refusedByPolicy(refusal(request, message), decision.reason ?? "Invalid", message);
}

async function converted(request: AdmissionRequest, apiVersion: string): Promise<VersionedObjects> {
  try {
    return await inVersion(request, apiVersion);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    throw new ConfigurationError(`failed to convert object version: ${error.message}`);
  }
}
