import type { KubeObject } from "../../../../base/api/object.ts";
import { cloneJson } from "../../../../base/util/clone.ts";
import { definitionResource, withoutSchemas } from "../../../../kinds/custom/definition-index.ts";
import {
  type CustomResourceDefinition,
  type DefinitionCondition,
  type DefinitionStatus,
  withDefinitionCondition,
} from "../../../../kinds/types/custom-resource-definition.ts";
import { printTime } from "../../../../resources/write/metadata.ts";
import { type ControllerContext, unlessCode } from "../../shared/controller.ts";

/** A condition without its transition time. */
export type NewCondition = Required<Pick<DefinitionCondition, "type" | "status" | "reason" | "message">>;

/** Change of the status of a definition. */
export interface StatusChange {
  readonly conditions: readonly NewCondition[];
  readonly acceptedNames?: DefinitionStatus["acceptedNames"];
  /** Types of conditions to remove. */
  readonly removed?: readonly string[];
  /** The remaining finalizers. */
  readonly finalizers?: readonly string[];
}

/**
 * Writes the status of a definition. Its spec, which is sent without schemas, is not changed. Undefined if the
 * definition was changed or deleted meanwhile; its watch triggers another attempt then.
 */
export async function writeStatus(
  { resources, client }: ControllerContext,
  definition: CustomResourceDefinition,
  { conditions, acceptedNames, removed = [], finalizers }: StatusChange,
): Promise<KubeObject | undefined> {
  const { clock } = resources;
  const next = cloneJson(withoutSchemas(definition));
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

/** Finds a condition by its type. Upstream: `FindCRDCondition`. */
export function conditionOf({ status }: CustomResourceDefinition, type: string): DefinitionCondition | undefined {
  return (status?.conditions ?? []).find((condition) => condition.type === type);
}

/** Whether two conditions are equal apart from the transition time. Upstream: `IsCRDConditionEquivalent`. */
export function saysSame(old: DefinitionCondition | undefined, next: NewCondition): boolean {
  return old?.status === next.status && old.reason === next.reason && old.message === next.message;
}
