import type { AdmissionTrace, ExplainedExpression, TraceOutcome } from "../../../base/api/admission-trace.ts";
import type { Activation } from "../../../data/cel/eval/frame.ts";
import { webhookConditions } from "../../../data/cel/kubernetes/admission-environment.ts";
import { CompileError, compile, Program, program } from "../../../data/cel/program.ts";
import { CelError } from "../../../data/cel/values/value.ts";
import type { AuthorizerAnswers } from "../expressions/authorizer-answers.ts";
import type { AdmissionRequest } from "../plugin.ts";
import { type Evaluated, EXPRESSION_LIMIT } from "../policies/evaluation.ts";
import type { CompiledWebhook } from "../webhooks/compiled-webhook.ts";
import type { WebhookType } from "../webhooks/observer.ts";
import { explainExpression } from "./explain-expression.ts";
import { sourcesOf } from "./policy-notes.ts";

const RESOURCES: Readonly<Record<WebhookType, { kind: string; resource: string }>> = {
  admit: { kind: "MutatingWebhookConfiguration", resource: "mutatingwebhookconfigurations" },
  validating: { kind: "ValidatingWebhookConfiguration", resource: "validatingwebhookconfigurations" },
};

/** Adds notes to a trace about the webhooks of one request. */
export class WebhookNotes {
  readonly #trace: AdmissionTrace;
  readonly #request: AdmissionRequest;
  readonly #type: WebhookType;
  readonly #conditions = new Map<CompiledWebhook, readonly ExplainedExpression[]>();
  /** Call order. Webhooks that are called concurrently respond in any order. */
  readonly #places = new Map<CompiledWebhook, number>();

  constructor(trace: AdmissionTrace, request: AdmissionRequest, type: WebhookType) {
    this.#trace = trace;
    this.#request = request;
    this.#type = type;
  }

  /** A webhook whose rules match. */
  met(webhook: CompiledWebhook): void {
    this.#places.set(webhook, this.#places.size);
  }

  /** Explains the match conditions of a webhook. */
  async conditions(webhook: CompiledWebhook, activation: Activation, answers: AuthorizerAnswers): Promise<void> {
    const evaluate = (text: string) => answers.complete(() => run(text, activation));
    const explained: ExplainedExpression[] = [];
    for (const { name, expression = "" } of webhook.spec.matchConditions ?? []) {
      explained.push(await explainExpression({ role: "matchCondition", name, expression }, evaluate));
    }
    this.#conditions.set(webhook, explained);
  }

  /** Notes the result of a webhook. */
  ended(webhook: CompiledWebhook, outcome: TraceOutcome, message?: string): void {
    const { name, configuration } = webhook;
    const own = { group: "admissionregistration.k8s.io", ...RESOURCES[this.#type], name: configuration };
    const expressions = this.#conditions.get(webhook) ?? [];
    const texts = expressions.map(({ expression }) => expression);
    const note = {
      ...{ type: "webhook" as const, name, from: configuration, outcome },
      ...(message !== undefined && { message }),
      expressions,
      sources: [{ as: "expressions" as const, object: own }, ...sourcesOf(this.#request, texts)],
    };
    this.#trace.note(note, this.#request.object, this.#places.get(webhook));
  }
}

function run(text: string, activation: Activation): Evaluated {
  const checked = compile(text, webhookConditions);
  const made = checked instanceof CompileError ? checked : program(checked, webhookConditions);
  if (!(made instanceof Program)) return { error: `compilation failed: ${made.message}` };
  const { value } = made.evaluate(activation, EXPRESSION_LIMIT);
  return value instanceof CelError ? { error: value.message } : { value };
}
