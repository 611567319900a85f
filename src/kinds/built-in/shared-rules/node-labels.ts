import { isObject, type Json } from "../../../base/api/object.ts";
import type { LabelSelector } from "../../types/meta.ts";

const DEPRECATED: Readonly<Record<string, string>> = {
  "beta.kubernetes.io/arch": 'deprecated since v1.14; use "kubernetes.io/arch" instead',
  "beta.kubernetes.io/os": 'deprecated since v1.14; use "kubernetes.io/os" instead',
  "failure-domain.beta.kubernetes.io/region": 'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
  "failure-domain.beta.kubernetes.io/zone": 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
  "beta.kubernetes.io/instance-type": 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
  "app.kubernetes.io/created-by": "deprecated since v1.9",
  "scheduler.alpha.kubernetes.io/preferAvoidPods": "deprecated since v1.22; use Taints and Tolerations instead",
  "node-role.kubernetes.io/master": 'use "node-role.kubernetes.io/control-plane" instead',
};

/** Deprecated beta node labels and their GA names. */
export const GA_NODE_LABELS: Readonly<Record<string, string>> = {
  "beta.kubernetes.io/arch": "kubernetes.io/arch",
  "beta.kubernetes.io/os": "kubernetes.io/os",
  "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
  "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
  "beta.kubernetes.io/instance-type": "node.kubernetes.io/instance-type",
};

/** The warning about a deprecated node label; undefined if the label is not deprecated. */
export function deprecatedNodeLabel(key: string): string | undefined {
  return Object.hasOwn(DEPRECATED, key) ? DEPRECATED[key] : undefined;
}

/** The warnings about deprecated node labels in a nodeSelector. */
export function nodeSelectorWarnings(selector: Json | undefined, path: string): string[] {
  if (!isObject(selector)) return [];
  const { matchExpressions = [], matchLabels = {} }: LabelSelector = selector;
  const warnings: string[] = [];
  for (const [index, { key = "" }] of matchExpressions.entries()) {
    const text = deprecatedNodeLabel(key);
    if (text !== undefined) warnings.push(`${path}.matchExpressions[${index}].key: ${key} is ${text}`);
  }
  for (const key of Object.keys(matchLabels)) {
    const text = deprecatedNodeLabel(key);
    if (text !== undefined) warnings.push(`${path}.matchLabels.${key}: ${text}`);
  }
  return warnings;
}
