import { isDeepStrictEqual } from "node:util";
import { internalError, mutationRefused, serviceUnavailable } from "../../../base/api/api-error.ts";
import { apiVersionOf, type KubeObject } from "../../../base/api/object.ts";
import { quote } from "../../../base/go/quote.ts";
import { cloneJson } from "../../../base/util/clone.ts";
import { shapeIn } from "../../../data/patch/apply/scope.ts";
import type { Shape } from "../../../data/patch/apply/shape.ts";
import { trackingScopeOf } from "../../../resources/model/tracking-scope.ts";
import type { Resources } from "../../../resources/resources.ts";
import { strategyOf } from "../../../resources/strategies/strategy-of.ts";
import { PolicyNotes } from "../explain/policy-notes.ts";
import { matchedApiVersion } from "../expressions/request-variable.ts";
import { refusal } from "../matches.ts";
import type { Match, MatchedResource } from "../matching/match-index.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../plugin.ts";
import { Reinvocation } from "../reinvocation.ts";
import { replaceObject } from "../versioned.ts";
import { MutationError } from "./apply-configuration.ts";
import { Mutator } from "./mutator.ts";
import { errorTypeOf, type PolicyErrorType } from "./observer.ts";
import { concerned, configurationError, type PolicyContext, PolicyRun } from "./policy-run.ts";
import { type PolicyBinding, type PolicyHook, PolicySource } from "./policy-source.ts";

type Hook = PolicyHook<Mutator>;

const PLUGIN = "MutatingAdmissionPolicy";
const KIND = { kind: PLUGIN, plural: "mutatingadmissionpolicies" };

/** The stored MutatingAdmissionPolicies and their bindings. */
export function mutatingSource(resources: Resources): PolicySource<Mutator> {
  const kinds = { policies: KIND.plural, bindings: "mutatingadmissionpolicybindings" };
  return new PolicySource(resources, kinds, (spec) => new Mutator(spec));
}

/**
 * MutatingAdmissionPolicy: applies the policies one after the other; each sees the object as the previous ones left it.
 * After a change, policies with `reinvocationPolicy: IfNeeded` are evaluated once more.
 */
export function mutatingPolicies(source: PolicySource<Mutator>, context: PolicyContext): AdmissionPlugin {
  return {
    name: PLUGIN,
    handles: (request) => request.operation !== "DELETE" && concerned(source, request).length > 0,
    async mutate(request) {
      const round = new Round(request, context);
      for (const match of concerned(source, request)) await round.collect(match);
      await round.run();
    },
  };
}

/** A policy with one of its bindings and one of the binding's params. Upstream: `PolicyInvocation`. */
interface Invocation {
  readonly hook: Hook;
  readonly binding: PolicyBinding;
  readonly matched: MatchedResource;
  readonly params: KubeObject | undefined;
}

interface Refusal {
  readonly text: string;
  readonly reason: string | undefined;
}

/** State that is kept between the two rounds. Upstream: `policyReinvokeContext`. */
class Memory {
  #last: KubeObject | undefined;
  /** Policies with `reinvocationPolicy: IfNeeded` that were evaluated since the last change. */
  #evaluated = new Set<string>();
  readonly #wanted = new Set<string>();

  /** Schedules what was evaluated before for the next round. */
  objectChanged(): void {
    for (const key of this.#evaluated) this.#wanted.add(key);
    this.#evaluated = new Set();
  }
  wasEvaluated(key: string): void {
    this.#evaluated.add(key);
  }
  isWanted(key: string): boolean {
    return this.#wanted.has(key);
  }
  begin(object: KubeObject | undefined): void {
    if (!isDeepStrictEqual(this.#last, object)) this.objectChanged();
  }
  end(object: KubeObject | undefined): void {
    this.#last = object && cloneJson(object);
  }
}

/** All policies of one request in one of the two rounds. Upstream: `policyDispatcher` and `dispatchInvocations`. */
class Round {
  readonly #request: AdmissionRequest;
  readonly #context: PolicyContext;
  readonly #run: PolicyRun;
  readonly #invocations: Invocation[] = [];
  readonly #refusals: Refusal[] = [];
  /** Only set if an explanation was requested. */
  readonly #notes: PolicyNotes | undefined;

  constructor(request: AdmissionRequest, context: PolicyContext) {
    this.#request = request;
    this.#context = context;
    this.#run = new PolicyRun(request, context);
    this.#notes = request.trace && new PolicyNotes(request.trace, this.#run, KIND);
  }

  async collect({ item: hook, matched }: Match<Hook>): Promise<void> {
    try {
      if (!(await this.#run.isSelected(hook.policy.selectors))) {
        this.#notes?.unselected(hook);
        return;
      }
      hook.paramResource();
    } catch (error) {
      this.#misconfigured(hook, undefined, configurationError(error));
      return;
    }
    for (const binding of hook.boundTo(this.#request)) {
      try {
        if (!(await this.#run.isSelected(binding.selectors))) {
          this.#notes?.unselected(hook, binding);
          continue;
        }
        for (const params of await this.#run.paramsOf(hook, binding)) {
          this.#invocations.push({ hook, binding, matched, params });
        }
      } catch (error) {
        this.#misconfigured(hook, binding, configurationError(error));
      }
    }
  }

  #misconfigured(hook: Hook, binding: PolicyBinding | undefined, text: string): void {
    this.#notes?.misconfigured(hook, binding, text);
    this.#refuse(hook, binding, `failed to configure ${binding ? "binding" : "policy"}: ${text}`);
  }

  /** Changes the object, and throws if a policy rejected the request. */
  async run(): Promise<void> {
    if (this.#invocations.length > 0) {
      this.#request.reinvocation ??= new Reinvocation();
      const { reinvocation } = this.#request;
      const memory = reinvocation.note(PLUGIN, () => new Memory());
      if (reinvocation.isReinvoke) memory.begin(this.#request.object);
      let isDirty = false;
      for (const invocation of this.#invocations) {
        if (await this.#invoke(invocation, reinvocation, memory)) isDirty = true;
        await this.#run.pause();
      }
      // Compat: every mutation sets `VersionedAttributes.Dirty`. So the policy that changed the object last, or changed
      // nothing, is evaluated again, too.
      if (isDirty) {
        memory.objectChanged();
        reinvocation.request();
      }
      memory.end(this.#request.object);
    }
    if (this.#refusals.length === 0) return;
    const texts = this.#refusals.map(({ text }) => text);
    throw mutationRefused(refusal(this.#request, ""), this.#refusals[0]?.reason, texts);
  }

  /** Returns true if a mutation was applied, even if it changed nothing. */
  async #invoke(invocation: Invocation, reinvocation: Reinvocation, memory: Memory): Promise<boolean> {
    const { hook, binding, matched, params } = invocation;
    const { evaluator, spec, name } = hook.policy;
    const inputs = await this.#run.inputs(matched, params);
    const notes = await this.#notes?.follow(invocation, inputs);
    const conditions = await this.#run.answers.complete(() => evaluator.conditions?.match(inputs));
    if (conditions?.error !== undefined) this.#refuse(hook, binding, conditions.error, "Invalid");
    if (conditions && !conditions.matches) {
      const { error } = conditions;
      notes?.ended(error === undefined ? "skipped" : "denied", error ?? "a match condition is false");
      return false;
    }
    const { metadata } = params ?? {};
    const key = JSON.stringify([name, binding.name, metadata?.namespace, metadata?.name]);
    if (reinvocation.isReinvoke && !memory.isWanted(key)) {
      if (spec.reinvocationPolicy === "IfNeeded")
        notes?.ended("skipped", "the object has not changed since its last evaluation");
      return false;
    }
    const before = { ...this.#request.object };
    let isDirty = false;
    let failure: string | undefined;
    for (let index = 0; index < evaluator.size; index++) {
      try {
        const mutation = spec.mutations?.[index];
        if (notes && mutation) await notes.mutating(mutation, await this.#run.inputs(matched, params));
        if (await this.#observed(invocation, index)) isDirty = true;
      } catch (error) {
        if (!(error instanceof MutationError)) throw error;
        failure = error.message;
        this.#refuse(hook, binding, error.message, "Invalid");
      }
    }
    const refused = hook.failsOpen ? "ignored" : "denied";
    notes?.ended(failure === undefined ? (isDirty ? "changed" : "allowed") : refused, failure);
    if (isDirty && !isDeepStrictEqual(before, { ...this.#request.object })) memory.objectChanged();
    if (spec.reinvocationPolicy === "IfNeeded") memory.wasEvaluated(key);
    return isDirty;
  }

  async #observed(invocation: Invocation, index: number): Promise<boolean> {
    const { observer, resources } = this.#context;
    const { hook, binding } = invocation;
    const startMs = resources.clock.monotonic();
    const observe = (errorType: PolicyErrorType) =>
      observer.mutated(hook.policy.name, binding.name, errorType, (resources.clock.monotonic() - startMs) / 1000);
    try {
      const isDirty = await this.#mutate(invocation, index);
      if (isDirty) observe("no_error");
      return isDirty;
    } catch (error) {
      observe(errorTypeOf(error instanceof Error ? error.message : ""));
      throw error;
    }
  }

  /** Returns false if there is no object to change. Throws MutationError. */
  async #mutate({ hook, matched, params }: Invocation, index: number): Promise<boolean> {
    const { object } = await this.#run.objectsIn(matched);
    if (!object) return false;
    const shape = this.#shapeOf(matched);
    const inputs = await this.#run.inputs(matched, params);
    const { evaluator } = hook.policy;
    const mutated = await this.#run.answers.complete(() =>
      evaluator.mutate(index, { object, shape, inputs, kind: printKind(matched) }),
    );
    if (mutated?.isStrict) requireDecodable(this.#request, mutated.object);
    requireSameVersion(this.#request, matched);
    if (mutated) {
      await replaceObject(this.#request, cloneJson(mutated.object), this.#context.resources);
      this.#run.changed();
    }
    return true;
  }

  /** Undefined if apply configurations of the kind are not supported. */
  #shapeOf(matched: MatchedResource): Shape | undefined {
    const { body, resource } = this.#request;
    // Compat: `TypeConverterManager` looks a kind up in the OpenAPI document of its own group version. Kinds that are
    // only used by a subresource of another group, such as Scale or Eviction, are not found there.
    if (body.definition.group !== resource.definition.group) return undefined;
    const shape = shapeIn(trackingScopeOf(body, ""), matchedApiVersion(matched));
    if (shape) return shape;
    throw serviceUnavailable(
      `Resource kind ${printKind(matched)} not found. There can be a delay between when CustomResourceDefinitions are created and when they are available.`,
    );
  }

  #refuse({ policy, failsOpen }: Hook, binding: PolicyBinding | undefined, message: string, reason?: string): void {
    if (failsOpen) return;
    const by = binding ? `policy '${policy.name}' with binding '${binding.name}'` : `policy ${quote(policy.name)}`;
    this.#refusals.push({ text: `${by} denied request: ${message}`, reason });
  }
}

const printKind = ({ kind: { group, version, kind } }: MatchedResource): string => `${group}/${version}, Kind=${kind}`;

/** Throws 500 if the result of a JSON patch does not fit the schema of its kind. */
function requireDecodable({ body: { definition } }: AdmissionRequest, object: KubeObject): void {
  const version = definition.versions.find(({ name }) => apiVersionOf(definition.group, name) === object.apiVersion);
  const strategy = strategyOf(definition);
  if (!version) return;
  const { strict, error } = strategy.decode(object, version.schema());
  if (error !== undefined) throw internalError(error);
  if (strict.length > 0 && !strategy.isUnstructured) throw internalError(`strict decoding error: ${strict.join(", ")}`);
}

/**
 * Compat: `dispatchOne` converts the result of a mutation to the version of the request with `ConvertToVersion`, which
 * cannot convert between external versions. So an equivalent resource with Go types can be matched, but not changed.
 */
function requireSameVersion({ body }: AdmissionRequest, matched: MatchedResource): void {
  if (strategyOf(body.definition).isUnstructured || matchedApiVersion(matched) === body.apiVersion) return;
  const { kind, version } = matched.kind;
  throw new MutationError(`converting (${version}.${kind}) to (${body.version.name}.${kind}): unknown conversion`);
}
