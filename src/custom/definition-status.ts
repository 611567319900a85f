import type { KubeObject } from "../api/object.ts";
import { type ControllerContext, unlessCode } from "../controllers/controller.ts";
import { cloneJson } from "../lib/clone.ts";
import { printTime } from "../resources/write/metadata.ts";
import {
  type CustomResourceDefinition,
  type DefinitionCondition,
  type DefinitionStatus,
  withDefinitionCondition,
} from "../types/custom-resource-definition.ts";
import { definitionResource } from "./definition-index.ts";

/** A condition before it is known since when it is so. */
export type NewCondition = Required<Pick<DefinitionCondition, "type" | "status" | "reason" | "message">>;

/** What the status of a definition becomes. */
export interface StatusChange {
  readonly conditions: readonly NewCondition[];
  readonly acceptedNames?: DefinitionStatus["acceptedNames"];
  /** Conditions that are no longer there. */
  readonly removed?: readonly string[];
  /** What remains of its finalizers. */
  readonly finalizers?: readonly string[];
}

/**
 * Writes the status of a definition; its spec, which may be without schemas, is left as it is stored. Undefined: it has been
 * changed or deleted meanwhile, so that whoever follows it hears of it anyway.
 */
export async function writeStatus(
  { resources, client }: ControllerContext,
  definition: CustomResourceDefinition,
  { conditions, acceptedNames, removed = [], finalizers }: StatusChange,
): Promise<KubeObject | undefined> {
  const { clock } = resources;
  const next = cloneJson(definition);
  const lastTransitionTime = printTime(clock.now());
  let all: DefinitionCondition[] = (next.status?.conditions ?? []).filter(({ type = "" }) => !removed.includes(type));
  for (const condition of conditions) all = withDefinitionCondition(all, { ...condition, lastTransitionTime });
  next.status = { ...next.status, conditions: all, ...(acceptedNames && { acceptedNames }) };
  if (finalizers) next.metadata.finalizers = [...finalizers];
  const written = client.update(definitionResource(resources), next, { subresource: "status" });
  return written.catch((error: unknown) => {
    unlessCode(404, 409)(error);
    return undefined;
  });
}

/** The condition of a type. Upstream: `FindCRDCondition`. */
export function conditionOf({ status }: CustomResourceDefinition, type: string): DefinitionCondition | undefined {
  return (status?.conditions ?? []).find((condition) => condition.type === type);
}

/** Whether a condition says the same already, whenever that began. Upstream: `IsCRDConditionEquivalent`. */
export function saysSame(old: DefinitionCondition | undefined, next: NewCondition): boolean {
  return old?.status === next.status && old.reason === next.reason && old.message === next.message;
}
