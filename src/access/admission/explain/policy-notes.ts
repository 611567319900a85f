import type {
  AdmissionTrace,
  ExplainedExpression,
  NamedObject,
  TraceNote,
  TraceOutcome,
  TraceSource,
} from "../../../base/api/admission-trace.ts";
import type { KubeObject } from "../../../base/api/object.ts";
import type { Mutation } from "../../../kinds/types/admission-registration.ts";
import { targetOf } from "../matches.ts";
import type { AdmissionRequest } from "../plugin.ts";
import type { PolicyInputs } from "../policies/evaluation.ts";
import type { PolicyRun } from "../policies/policy-run.ts";
import type { PolicyBinding, PolicyHook } from "../policies/policy-source.ts";
import type { Decision, ValidateResult } from "../policies/validator.ts";
import { PolicyExplainer } from "./policy-explainer.ts";

type Hook = Pick<PolicyHook<unknown>, "policy" | "paramResource" | "failsOpen">;

/** A policy with one of its bindings and one of the binding's params. */
export interface TracedInvocation {
  readonly hook: Hook;
  readonly binding: PolicyBinding;
  readonly params: KubeObject | undefined;
}

/** A kind of policy, as named in notes. */
export interface TracedKind {
  readonly kind: string;
  readonly plural: string;
}

const GROUP = "admissionregistration.k8s.io";

/** Adds notes to a trace about the policies of one request. */
export class PolicyNotes {
  readonly #trace: AdmissionTrace;
  readonly #run: Pick<PolicyRun, "request" | "answers">;
  readonly #kind: TracedKind;

  constructor(trace: AdmissionTrace, run: Pick<PolicyRun, "request" | "answers">, kind: TracedKind) {
    this.#trace = trace;
    this.#run = run;
    this.#kind = kind;
  }

  /** A policy or binding was skipped. */
  skipped({ policy }: Hook, binding: PolicyBinding | undefined, message: string): void {
    this.#add({ hook: { policy }, binding, outcome: "skipped", message });
  }

  /** The selectors of a policy, or of one of its bindings, do not match. */
  unselected(hook: Hook, binding?: PolicyBinding): void {
    const whose = binding ? "binding" : "policy";
    this.skipped(hook, binding, `the namespaceSelector or objectSelector of the ${whose} does not match`);
  }

  /** A policy or binding is misconfigured. */
  misconfigured({ policy, failsOpen }: Hook, binding: PolicyBinding | undefined, message: string): void {
    this.#add({ hook: { policy }, binding, outcome: failsOpen ? "ignored" : "denied", message });
  }

  /** Notes the result of a ValidatingAdmissionPolicy. */
  async judged(invocation: TracedInvocation, inputs: PolicyInputs, result: ValidateResult): Promise<void> {
    const { hook, binding } = invocation;
    const explainer = new PolicyExplainer(hook.policy.spec, this.#run.answers);
    const expressions = await explainer.validations(inputs);
    this.#add({ ...invocation, expressions, ...verdict(expressions, binding, result) });
  }

  /** Starts the note of a MutatingAdmissionPolicy with its match conditions. */
  async follow(invocation: TracedInvocation, inputs: PolicyInputs): Promise<MutationNotes> {
    const explainer = new PolicyExplainer(invocation.hook.policy.spec, this.#run.answers);
    const expressions = await explainer.conditions(inputs);
    return {
      mutating: async (mutation, before) => {
        expressions.push(await explainer.mutation(mutation, before));
      },
      ended: (outcome, message) => this.#add({ ...invocation, expressions, outcome, message }),
    };
  }

  #add({ hook, binding, params, expressions = [], outcome, message }: Addition): void {
    const { name } = hook.policy;
    const own: NamedObject = { group: GROUP, resource: this.#kind.plural, kind: this.#kind.kind, name };
    const resource = params && hook.paramResource?.();
    const shownParams = params && resource && named(targetOf({ resource }), params);
    const texts = [...(hook.policy.spec.variables ?? []), ...expressions].map(({ expression = "" }) => expression);
    const sources: TraceSource[] = [{ as: "expressions", object: own }, ...sourcesOf(this.#run.request, texts)];
    if (shownParams) sources.push({ as: "params", object: shownParams });
    const note: Omit<TraceNote, "changes"> = {
      ...{ type: "policy", name },
      ...(binding && { binding: binding.name }),
      ...(shownParams && { params: shownParams }),
      outcome,
      ...(message !== undefined && { message }),
      ...{ expressions, sources },
    };
    this.#trace.note(note, this.#run.request.object);
  }
}

/** Collects the mutations of one policy. */
export interface MutationNotes {
  /** `inputs` contain the object as the previous mutation left it. */
  mutating(mutation: Mutation, inputs: PolicyInputs): Promise<void>;
  ended(outcome: TraceOutcome, message?: string): void;
}

interface Addition {
  readonly hook: Pick<Hook, "policy"> & Partial<Hook>;
  readonly binding: PolicyBinding | undefined;
  readonly params?: KubeObject | undefined;
  readonly expressions?: readonly ExplainedExpression[];
  readonly outcome: TraceOutcome;
  readonly message?: string | undefined;
}

/** The stored objects whose contents may show up in expressions about a request. */
export function sourcesOf(request: AdmissionRequest, expressions: readonly string[]): TraceSource[] {
  const { namespace, previous } = request;
  const isNamed = (root: string) => expressions.some((text) => text.includes(root));
  const sources: TraceSource[] = [];
  if (previous && isNamed("oldObject")) sources.push({ as: "oldObject", object: named(targetOf(request), previous) });
  if (namespace !== "" && isNamed("namespaceObject")) {
    const object = { group: "", resource: "namespaces", kind: "Namespace", name: namespace };
    sources.push({ as: "namespaceObject", object });
  }
  return sources;
}

function named(target: { readonly group: string; readonly resource: string }, { kind, metadata }: KubeObject) {
  const { namespace, name = "" } = metadata;
  return { ...target, kind, ...(namespace !== undefined && { namespace }), name };
}

function verdict(
  expressions: readonly ExplainedExpression[],
  { spec: { validationActions = [] } }: PolicyBinding,
  { decisions, annotations }: ValidateResult,
): { outcome: TraceOutcome; message?: string } {
  const failed = annotations.find(({ error }) => error !== undefined)?.error;
  if (failed !== undefined) return { outcome: "denied", message: failed };
  const denied = decisions.filter(({ action }) => action === "deny");
  if (denied.length > 0) {
    const outcome = validationActions.includes("Deny")
      ? "denied"
      : validationActions.includes("Warn")
        ? "warned"
        : "audited";
    return { outcome, message: textOf(denied) };
  }
  const ignored = decisions.filter(({ evaluation }) => evaluation === "error");
  if (ignored.length > 0) return { outcome: "ignored", message: textOf(ignored) };
  const isSkipped = expressions.some(({ role, result }) => role === "matchCondition" && result !== true);
  return isSkipped ? { outcome: "skipped", message: "a match condition is false" } : { outcome: "allowed" };
}

const textOf = (decisions: readonly Decision[]): string => decisions.map(({ message }) => message).join("; ");
