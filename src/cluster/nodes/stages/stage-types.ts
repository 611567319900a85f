import type { JsonObject, KubeObject } from "../../../base/api/object.ts";

/** Stage of kwok.x-k8s.io/v1alpha1. */
export interface StageObject extends KubeObject {
  spec: StageSpec;
}

/** StageSpec of kwok.x-k8s.io/v1alpha1. */
export interface StageSpec extends JsonObject {
  resourceRef?: { apiGroup?: string; kind?: string };
  selector?: StageSelector;
  weight?: number;
  weightFrom?: ExpressionFrom;
  delay?: StageDelay;
  next?: StageNext;
  steps?: StageStep[];
  immediateNextStage?: boolean;
}

/** StageSelector of kwok.x-k8s.io/v1alpha1. */
export interface StageSelector extends JsonObject {
  matchLabels?: { [key: string]: string };
  matchAnnotations?: { [key: string]: string };
  matchExpressions?: MatchExpression[];
}

/** MatchExpression of kwok.x-k8s.io/v1alpha1: a CEL expression, or a jq expression, inline or under `jq`. */
export interface MatchExpression extends JsonObject {
  cel?: { expression?: string };
  jq?: MatchExpression;
  key?: string;
  operator?: string;
  values?: string[];
}

/** ExpressionFrom of kwok.x-k8s.io/v1alpha1: a CEL expression, or a jq expression, inline or under `jq`. */
export interface ExpressionFrom extends JsonObject {
  cel?: { expression?: string };
  jq?: { expression?: string; expressionFrom?: string };
  expressionFrom?: string;
}

/** StageDelay of kwok.x-k8s.io/v1alpha1. */
export interface StageDelay extends JsonObject {
  durationMilliseconds?: number;
  durationFrom?: ExpressionFrom;
  jitterDurationMilliseconds?: number;
  jitterDurationFrom?: ExpressionFrom;
}

/** StageNext of kwok.x-k8s.io/v1alpha1. */
export interface StageNext extends JsonObject {
  event?: StageEvent;
  finalizers?: StageFinalizers;
  delete?: boolean;
  patches?: StagePatch[];
  statusTemplate?: string;
  statusSubresource?: string;
}

/** StageStep of kwok.x-k8s.io/v1alpha1. */
export interface StageStep extends JsonObject {
  event?: StageEvent;
  finalizers?: StageFinalizers;
  delete?: boolean;
  patch?: StagePatch;
  apply?: StageApply;
}

/** StageEvent of kwok.x-k8s.io/v1alpha1. */
export interface StageEvent extends JsonObject {
  type?: string;
  reason?: string;
  message?: string;
}

/** StageFinalizers of kwok.x-k8s.io/v1alpha1. */
export interface StageFinalizers extends JsonObject {
  add?: { value?: string }[];
  remove?: { value?: string }[];
  empty?: boolean;
}

/** StagePatch of kwok.x-k8s.io/v1alpha1. */
export interface StagePatch extends JsonObject {
  subresource?: string;
  root?: string;
  template?: string;
  type?: string;
}

/** StageApply of kwok.x-k8s.io/v1alpha1. */
export interface StageApply extends JsonObject {
  subresource?: string;
  template?: string;
  type?: string;
}
