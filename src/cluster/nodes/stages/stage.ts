import type { Json, KubeObject } from "../../../base/api/object.ts";
import { readDuration } from "../../../base/go/duration.ts";
import type { Random } from "../../../base/util/random.ts";
import { compileTemplate, type TemplateFunctions } from "./go-template/evaluate.ts";
import { compileJq, type Filter } from "./jq.ts";
import { isStageFunction } from "./stage-functions.ts";
import type {
  ExpressionFrom,
  MatchExpression,
  StageEvent,
  StageFinalizers,
  StageObject,
  StageStep,
} from "./stage-types.ts";

/** A step of a stage whose template, if any, is compiled. */
export interface CompiledStep {
  readonly event?: StageEvent;
  readonly finalizers?: StageFinalizers;
  readonly delete?: boolean;
  readonly patch?: {
    readonly subresource: string | undefined;
    readonly root: string | undefined;
    readonly type: string;
    readonly print: (object: Json, functions: TemplateFunctions) => string;
  };
}

type Test = (object: KubeObject) => boolean;

/** A Stage of KWOK, ready to be matched and played. Upstream: pkg/utils/lifecycle of KWOK */
export class Stage {
  readonly name: string;
  readonly steps: readonly CompiledStep[];
  readonly #tests: readonly Test[];
  readonly #spec: StageObject["spec"];
  readonly #weight: Filter | undefined;
  readonly #duration: Filter | undefined;
  readonly #jitter: Filter | undefined;

  /** Throws if an expression or a template is malformed or not supported. */
  constructor({ metadata, spec }: StageObject, isKnownFunction: (name: string) => boolean) {
    this.name = metadata.name ?? "";
    this.#spec = spec;
    const { matchLabels = {}, matchAnnotations = {}, matchExpressions = [] } = spec.selector ?? {};
    const matches = (list: "labels" | "annotations", wanted: { [key: string]: string }): Test[] =>
      Object.entries(wanted).map(
        ([key, value]) =>
          ({ metadata: own }) =>
            own[list]?.[key] === value,
      );
    this.#tests = [
      ...matches("labels", matchLabels),
      ...matches("annotations", matchAnnotations),
      ...matchExpressions.map(requirement),
    ];
    this.#weight = queryOf(spec.weightFrom);
    this.#duration = queryOf(spec.delay?.durationFrom);
    this.#jitter = queryOf(spec.delay?.jitterDurationFrom);
    this.steps = stepsOf(spec).map((step) => compileStep(step, isKnownFunction));
  }

  /** A Stage without a selector matches nothing. Upstream: NewStage of KWOK */
  matches(object: KubeObject): boolean {
    return this.#spec.selector !== undefined && this.#tests.every((test) => test(object));
  }

  /** The weight among the stages that match. Undefined if its expression yields no number. */
  weight(object: KubeObject): number | undefined {
    const { weight = 0 } = this.#spec;
    const [found] = this.#weight ? outputs(this.#weight, object) : [];
    if (found === undefined) return weight;
    if (typeof found === "number") return Math.trunc(found);
    return typeof found === "string" && /^[+-]?\d+$/.test(found) ? Number(found) : undefined;
  }

  /** Milliseconds before the stage is played. */
  delayMs(object: KubeObject, nowMs: number, random: Random): number {
    const { durationMilliseconds = 0, jitterDurationMilliseconds } = this.#spec.delay ?? {};
    const duration = spanOf(this.#duration, object, nowMs, durationMilliseconds);
    if (duration === undefined) return 0;
    const jitter = spanOf(this.#jitter, object, nowMs, jitterDurationMilliseconds);
    if (jitter === undefined) return Math.max(0, duration);
    if (jitter <= duration) return Math.max(0, jitter);
    return Math.max(0, duration + random.integer(Math.ceil(jitter - duration)));
  }
}

/** Reads a Stage of a kind of the core group. Undefined if it is about another one. Throws if it is not supported. */
export function readStage(object: StageObject, wanted: string): Stage | undefined {
  const { apiGroup = "v1", kind } = object.spec.resourceRef ?? {};
  const isWanted = kind === wanted && (apiGroup === "v1" || apiGroup === "");
  return isWanted ? new Stage(object, isStageFunction) : undefined;
}

/** Picks one of the stages that match, by their weights. */
export function chooseStage(stages: readonly Stage[], object: KubeObject, random: Random): Stage | undefined {
  const matching = stages.filter((stage) => stage.matches(object));
  if (matching.length <= 1) return matching[0];
  const weighted = matching.map((stage) => ({ stage, weight: stage.weight(object) }));
  const valid = weighted.flatMap(({ stage, weight }) => (weight === undefined ? [] : [{ stage, weight }]));
  const candidates = valid.length === 0 ? matching.map((stage) => ({ stage, weight: 0 })) : valid;
  const total = candidates.reduce((sum, { weight }) => sum + Math.max(0, weight), 0);
  if (total === 0) return candidates[random.integer(candidates.length)]?.stage;
  let rest = random.integer(total);
  return candidates.find(({ weight }) => {
    rest -= Math.max(0, weight);
    return rest < 0;
  })?.stage;
}

function requirement(expression: MatchExpression): Test {
  const { key, operator, values = [] } = expression.jq ?? expression;
  if (expression.cel || key === undefined) throw new Error("CEL expressions of Stages are not supported");
  const query = compileJq(key);
  const isIn = (found: readonly Json[]) =>
    found.some((value) => typeof value !== "object" && values.includes(`${value}`));
  switch (operator) {
    case "In":
      return (object) => isIn(outputs(query, object));
    case "NotIn":
      return (object) => !isIn(outputs(query, object));
    case "Exists":
      return (object) => outputs(query, object).length > 0;
    case "DoesNotExist":
      return (object) => outputs(query, object).length === 0;
    default:
      throw new Error(`operator "${operator}" is not supported`);
  }
}

function queryOf(from: ExpressionFrom | undefined): Filter | undefined {
  if (from === undefined) return undefined;
  const source = from.expressionFrom ?? from.jq?.expression ?? from.jq?.expressionFrom;
  if (from.cel || source === undefined) throw new Error("CEL expressions of Stages are not supported");
  return compileJq(source);
}

/** Outputs that are not null. None if the expression fails. */
function outputs(query: Filter, object: KubeObject): Json[] {
  try {
    return query(object).filter((value) => value !== null);
  } catch {
    return [];
  }
}

/** A duration such as `5s`, or the time until a timestamp. */
function spanOf(query: Filter | undefined, object: KubeObject, nowMs: number, otherwise: number | undefined) {
  const [found] = query ? outputs(query, object) : [];
  if (found === "") return undefined;
  if (typeof found !== "string") return otherwise;
  if (/^\d{4}-\d\d-\d\dT/.test(found)) return Date.parse(found) - nowMs;
  const nanoseconds = readDuration(found);
  return typeof nanoseconds === "string" ? otherwise : Number(nanoseconds) / 1e6;
}

/** `next` as steps, in the order in which KWOK does them. */
function stepsOf({ next, steps }: StageObject["spec"]): StageStep[] {
  if (steps && steps.length > 0) return steps;
  const { event, finalizers, delete: deletes, patches = [], statusTemplate, statusSubresource = "status" } = next ?? {};
  return [
    ...(event ? [{ event }] : []),
    ...(finalizers ? [{ finalizers }] : []),
    ...patches.map((patch) => ({ patch })),
    ...(statusTemplate
      ? [{ patch: { template: statusTemplate, root: "status", subresource: statusSubresource } }]
      : []),
    ...(deletes ? [{ delete: true }] : []),
  ];
}

function compileStep({ patch, apply, ...step }: StageStep, isKnown: (name: string) => boolean): CompiledStep {
  if (apply) throw new Error("the step apply of Stages is not supported");
  if (patch === undefined) return step;
  const { template = "", root, subresource, type = "strategic" } = patch;
  if (type !== "strategic" && type !== "merge") throw new Error(`patches of type ${type} are not supported in Stages`);
  return { ...step, patch: { subresource, root, type, print: compileTemplate(template.trim(), isKnown) } };
}
