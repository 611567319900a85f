import { type ApiError, refusedByPolicy } from "../../../base/api/api-error.ts";
import type { KubeObject } from "../../../base/api/object.ts";
import type { Clock } from "../../../base/util/clock.ts";
import type { Resources } from "../../../resources/resources.ts";
import { PolicyNotes } from "../explain/policy-notes.ts";
import { refusal } from "../matches.ts";
import type { Match, MatchedResource } from "../matching/match-index.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../plugin.ts";
import { AnnotationCollector, publishFailures, type ValidationFailure } from "./audit-annotations.ts";
import { errorTypeOf, type PolicyAction, type PolicyObserver } from "./observer.ts";
import { ConfigurationError } from "./params.ts";
import { concerned, configurationError, type PolicyContext, PolicyRun } from "./policy-run.ts";
import { type PolicyBinding, type PolicyHook, PolicySource } from "./policy-source.ts";
import { type Decision, type ValidateResult, Validator } from "./validator.ts";

type Hook = PolicyHook<Validator>;

/** Metric labels of `validationActions`. */
const ACTIONS: ReadonlyMap<string, PolicyAction> = new Map([
  ["Deny", "deny"],
  ["Audit", "audit"],
  ["Warn", "warn"],
]);

const KIND = { kind: "ValidatingAdmissionPolicy", plural: "validatingadmissionpolicies" };

/** The stored ValidatingAdmissionPolicies and their bindings. */
export function validatingSource(resources: Resources): PolicySource<Validator> {
  const kinds = { policies: KIND.plural, bindings: "validatingadmissionpolicybindings" };
  return new PolicySource(resources, kinds, (spec) => new Validator(spec));
}

/**
 * ValidatingAdmissionPolicy: evaluates all policies that apply to a request. The client receives the error of the first
 * one that denies it.
 */
export function validatingPolicies(source: PolicySource<Validator>, context: PolicyContext): AdmissionPlugin {
  return {
    name: KIND.kind,
    handles: (request) => concerned(source, request).length > 0,
    async validate(request) {
      const judgement = new Judgement(request, context);
      for (const match of concerned(source, request)) {
        if (request.trace || !judgement.consultNow(match)) await judgement.consult(match);
      }
      judgement.conclude();
    },
  };
}

/** Upstream: `policyDecisionWithMetadata`. */
interface Denial {
  readonly policy: string;
  readonly binding: string | undefined;
  readonly decision: Pick<Decision, "message" | "reason">;
}

/** The evaluation of all policies on one request. Upstream: `dispatcher.Dispatch`. */
class Judgement {
  readonly #request: AdmissionRequest;
  readonly #run: PolicyRun;
  readonly #observer: PolicyObserver;
  readonly #clock: Pick<Clock, "monotonic">;
  #readMs: number;
  /**
   * Number of policies evaluated since the clock was read. Policies that allow a request are not reported to metrics.
   */
  #evaluated = 0;
  readonly #denials: Denial[] = [];
  readonly #failures: ValidationFailure[] = [];
  /** Only set if an explanation was requested. */
  readonly #notes: PolicyNotes | undefined;

  constructor(request: AdmissionRequest, context: PolicyContext) {
    this.#request = request;
    this.#run = new PolicyRun(request, context);
    this.#observer = context.observer;
    this.#clock = context.resources.clock;
    this.#readMs = this.#clock.monotonic();
    this.#notes = request.trace && new PolicyNotes(request.trace, this.#run, KIND);
  }

  /** Evaluates a policy synchronously. Returns false if something has to be looked up first. */
  consultNow({ item: hook, matched }: Match<Hook>): boolean {
    const inputs = hook.isPlain ? this.#run.knownInputs(matched) : undefined;
    if (!inputs) return false;
    const { policy } = hook;
    const result = this.#run.answers.now(() => policy.evaluator.validate(inputs));
    if (!result) return false;
    this.#evaluated += 1;
    if (result.decisions.length === 0 && result.annotations.length === 0) return true;
    const annotations = new AnnotationCollector();
    const seconds = this.#secondsEach(result);
    for (const binding of hook.boundTo(this.#request)) this.#collect(hook, binding, result, annotations, seconds);
    annotations.publish(policy.name, this.#request);
    return true;
  }

  async consult({ item: hook, matched }: Match<Hook>): Promise<void> {
    const { policy } = hook;
    try {
      if (!(await this.#run.isSelected(policy.selectors))) {
        this.#notes?.unselected(hook);
        return;
      }
      hook.paramResource();
    } catch (error) {
      this.#misconfigured(error, hook, undefined);
      return;
    }
    const annotations = new AnnotationCollector();
    for (const binding of hook.boundTo(this.#request)) {
      const params = await this.#paramsFor(hook, binding, matched);
      for (const one of params) {
        const inputs = await this.#run.inputs(matched, one);
        this.#readMs = this.#clock.monotonic();
        this.#evaluated = 1;
        const result = await this.#run.answers.complete(() => policy.evaluator.validate(inputs));
        this.#collect(hook, binding, result, annotations, this.#secondsEach(result));
        await this.#notes?.judged({ hook, binding, params: one }, inputs, result);
        if (params.length > 1) await this.#run.pause();
      }
    }
    annotations.publish(policy.name, this.#request);
  }

  /** Expressions are not timed individually: each gets its share of the time since the clock was last read. */
  #secondsEach({ decisions, annotations }: ValidateResult): number {
    const parts = decisions.length + annotations.length;
    if (parts === 0) return 0;
    const nowMs = this.#clock.monotonic();
    const seconds = (nowMs - this.#readMs) / 1000 / this.#evaluated / parts;
    this.#readMs = nowMs;
    this.#evaluated = 0;
    return seconds;
  }

  /** Empty if a binding does not apply to the request or is misconfigured. */
  async #paramsFor(
    hook: Hook,
    binding: PolicyBinding,
    matched: MatchedResource,
  ): Promise<readonly (KubeObject | undefined)[]> {
    try {
      if (!(await this.#run.isSelected(binding.selectors))) {
        this.#notes?.unselected(hook, binding);
        return [];
      }
      const params = await this.#run.paramsOf(hook, binding);
      if (params.length > 0) await this.#convert(matched);
      return params;
    } catch (error) {
      this.#misconfigured(error, hook, binding);
      return [];
    }
  }

  async #convert(matched: MatchedResource): Promise<void> {
    try {
      await this.#run.objectsIn(matched);
    } catch (error) {
      throw new ConfigurationError(`failed to convert object version: ${configurationError(error)}`);
    }
  }

  #misconfigured(error: unknown, hook: Hook, binding: PolicyBinding | undefined): void {
    const { policy, failsOpen } = hook;
    const text = configurationError(error);
    this.#notes?.misconfigured(hook, binding, text);
    if (failsOpen) return;
    const decision = { message: `failed to configure ${binding ? "binding" : "policy"}: ${text}` };
    this.#denials.push({ policy: policy.name, binding: binding?.name, decision });
  }

  #collect(
    { policy }: Hook,
    binding: PolicyBinding,
    { decisions, annotations }: ValidateResult,
    collector: AnnotationCollector,
    seconds: number,
  ): void {
    for (const [index, decision] of decisions.entries()) {
      if (decision.action === "deny") this.#enforce(policy.name, binding, index, decision, seconds);
      else if (decision.evaluation === "error") {
        this.#observer.validated(policy.name, binding.name, "allow", errorTypeOf(decision.message), seconds);
      }
    }
    for (const { key, value, error } of annotations) {
      if (error !== undefined) {
        this.#observer.validated(policy.name, binding.name, "deny", errorTypeOf(error), seconds);
        this.#denials.push({ policy: policy.name, binding: binding.name, decision: { message: error } });
      } else if (value !== undefined) collector.add(key, value);
    }
  }

  #enforce(
    policy: string,
    { name, spec }: PolicyBinding,
    expressionIndex: number,
    decision: Decision,
    seconds: number,
  ): void {
    const { validationActions = [], policyName = "" } = spec;
    const { message } = decision;
    for (const action of validationActions) {
      const taken = ACTIONS.get(action);
      if (taken !== undefined) this.#observer.validated(policy, name, taken, errorTypeOf(message), seconds);
      if (action === "Deny") this.#denials.push({ policy, binding: name, decision });
      else if (action === "Audit") {
        this.#failures.push({ message, policy: policyName, binding: name, expressionIndex, validationActions });
      } else if (action === "Warn") {
        const text = `Validation failed for ValidatingAdmissionPolicy '${policy}' with binding '${name}': ${message}`;
        this.#request.warn(text);
      }
    }
  }

  /** Publishes audit annotations, and throws the first denial. */
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
