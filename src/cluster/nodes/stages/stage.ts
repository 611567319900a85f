import { isObject, type Json, type JsonObject, type KubeObject } from "../../../base/api/object.ts";
import { Meter } from "../../../base/util/meter.ts";
import type { Random } from "../../../base/util/random.ts";
import { decodeYaml } from "../../../data/encoding/yaml/yaml.ts";
import type { KwokCel } from "../kwok/cel.ts";
import { compileSpan, compileTest, compileWeight, type ObjectTest } from "./expression.ts";
import { compileTemplate, type TemplateFunctions } from "./go-template/evaluate.ts";
import type { StageApply, StageEvent, StageFinalizers, StageObject, StagePatch, StageStep } from "./stage-types.ts";

/** What a template yields for an object. Throws if it fails, and TooCostly if it costs too much. */
export type Rendered = (object: KubeObject, functions: TemplateFunctions) => Json;

/** A step of a stage whose template, if any, is compiled. */
export interface CompiledStep {
  readonly event?: StageEvent;
  readonly finalizers?: StageFinalizers;
  readonly delete?: boolean;
  readonly patch?: {
    readonly subresource: string | undefined;
    readonly isStrategic: boolean;
    readonly render: (object: KubeObject, functions: TemplateFunctions) => JsonObject | JsonObject[];
  };
  /** Creates an object, or patches it if it exists. */
  readonly apply?: {
    readonly subresource: string | undefined;
    readonly type: string;
    readonly render: Rendered;
  };
}

/** What Stages are compiled with. */
export interface StageContext {
  readonly isKnownFunction: (name: string) => boolean;
  readonly cel: KwokCel;
  /** The type of patches that name none. Compat: computePatch of KWOK: strategic for Pods and Nodes, otherwise merge. */
  readonly patchType: "strategic" | "merge";
}

/** Units of the meter for the expressions of a Stage, about 2 ms, and for a template, about 20 ms. */
const EXPRESSION_UNITS = 20_000;
const TEMPLATE_UNITS = 200_000;

/** A Stage of KWOK, ready to be matched and played. Upstream: pkg/utils/lifecycle of KWOK */
export class Stage {
  readonly name: string;
  readonly steps: readonly CompiledStep[];
  readonly #tests: readonly ObjectTest[];
  readonly #spec: StageObject["spec"];
  readonly #weight: ReturnType<typeof compileWeight>;
  readonly #duration: ReturnType<typeof compileSpan>;
  readonly #jitter: ReturnType<typeof compileSpan>;

  /** Throws if an expression or a template is malformed or not supported. */
  constructor({ metadata, spec }: StageObject, context: StageContext) {
    const { cel } = context;
    this.name = metadata.name ?? "";
    this.#spec = spec;
    const { matchLabels = {}, matchAnnotations = {}, matchExpressions = [] } = spec.selector ?? {};
    const matches = (list: "labels" | "annotations", wanted: { [key: string]: string }): ObjectTest[] =>
      Object.entries(wanted).map(
        ([key, value]) =>
          ({ metadata: own }) =>
            own[list]?.[key] === value,
      );
    this.#tests = [
      ...matches("labels", matchLabels),
      ...matches("annotations", matchAnnotations),
      ...matchExpressions.map((expression) => compileTest(expression, cel)),
    ];
    this.#weight = compileWeight(spec.weightFrom, cel);
    this.#duration = compileSpan(spec.delay?.durationFrom, cel);
    this.#jitter = compileSpan(spec.delay?.jitterDurationFrom, cel);
    this.steps = stepsOf(spec).map((step) => compileStep(step, context));
  }

  /** A Stage without a selector matches nothing. Upstream: NewStage of KWOK. Throws TooCostly. */
  matches(object: KubeObject): boolean {
    const meter = new Meter(EXPRESSION_UNITS);
    return this.#spec.selector !== undefined && this.#tests.every((test) => test(object, meter));
  }

  /** The weight among the stages that match. Undefined if its expression yields no number. Throws TooCostly. */
  weight(object: KubeObject): number | undefined {
    const found = this.#weight(object, new Meter(EXPRESSION_UNITS));
    return found === undefined ? (this.#spec.weight ?? 0) : (found ?? undefined);
  }

  /** The shortest and the longest time in milliseconds before the stage is played. Undefined: no delay. Throws TooCostly. */
  delayRange(object: KubeObject, nowMs: number): readonly [minMs: number, maxMs: number] | undefined {
    const meter = new Meter(EXPRESSION_UNITS);
    const { durationMilliseconds = 0, jitterDurationMilliseconds } = this.#spec.delay ?? {};
    if (this.#spec.delay === undefined) return undefined;
    const duration = this.#duration(object, nowMs, meter);
    if (duration === null) return undefined;
    const from = duration ?? durationMilliseconds;
    const to = this.#jitter(object, nowMs, meter);
    const jitter = to === null ? undefined : (to ?? jitterDurationMilliseconds);
    if (jitter === undefined) return [from, from];
    return jitter <= from ? [jitter, jitter] : [from, jitter];
  }

  /** Milliseconds before the stage is played. Throws TooCostly. */
  delayMs(object: KubeObject, nowMs: number, random: Random): number {
    const [from, to] = this.delayRange(object, nowMs) ?? [0, 0];
    return Math.max(0, from === to ? from : from + random.integer(Math.ceil(to - from)));
  }
}

/** Picks one of the stages that match, by their weights. */
export function chooseStage(
  matching: readonly { readonly stage: Stage; readonly weight: number | undefined }[],
  random: Random,
): Stage | undefined {
  if (matching.length <= 1) return matching[0]?.stage;
  const valid = matching.flatMap(({ stage, weight }) => (weight === undefined ? [] : [{ stage, weight }]));
  const candidates = valid.length === 0 ? matching.map(({ stage }) => ({ stage, weight: 0 })) : valid;
  const total = candidates.reduce((sum, { weight }) => sum + Math.max(0, weight), 0);
  if (total === 0) return candidates[random.integer(candidates.length)]?.stage;
  let rest = random.integer(total);
  return candidates.find(({ weight }) => {
    rest -= Math.max(0, weight);
    return rest < 0;
  })?.stage;
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

function compileStep({ patch, apply, ...step }: StageStep, context: StageContext): CompiledStep {
  return {
    ...step,
    ...(patch && { patch: compilePatch(patch, context) }),
    ...(apply && { apply: compileApply(apply, context) }),
  };
}

const PATCH_TYPES: readonly string[] = ["json", "merge", "strategic"];

function compilePatch(patch: StagePatch, context: StageContext): CompiledStep["patch"] {
  const { root, subresource, type = context.patchType } = patch;
  if (!PATCH_TYPES.includes(type)) throw new Error(`unknown patch type ${type}`);
  const render = compileYaml(patch.template, context);
  const isStrategic = type === "strategic";
  if (type === "json") {
    return { subresource, isStrategic, render: (object, functions) => operations(render(object, functions), root) };
  }
  return {
    subresource,
    isStrategic,
    render: (object, functions) => {
      const value = render(object, functions);
      return root ? { [root]: value } : isObject(value) ? value : {};
    },
  };
}

/** Upstream: wrapJSONPatchData of KWOK */
function operations(value: Json, root: string | undefined): JsonObject[] {
  const list = Array.isArray(value) ? value.filter(isObject) : [];
  return root ? list.map((operation) => ({ ...operation, path: `/${root}${operation.path}` })) : list;
}

const APPLY_TYPES: readonly string[] = ["apply", "merge", "strategic"];

function compileApply(apply: StageApply, context: StageContext): CompiledStep["apply"] {
  const { subresource, type = "apply" } = apply;
  if (!APPLY_TYPES.includes(type)) throw new Error(`unknown apply type ${type}`);
  return { subresource, type, render: compileYaml(apply.template, context) };
}

function compileYaml(template = "", { isKnownFunction }: StageContext): Rendered {
  const print = compileTemplate(template.trim(), isKnownFunction);
  return (object, functions) => decodeYaml(Buffer.from(print(object, functions, new Meter(TEMPLATE_UNITS)))).value;
}
