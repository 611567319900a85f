import type { JsonObject, KubeObject } from "../../../../base/api/object.ts";

/** A condition of a StorageVersionMigration. */
export interface MigrationCondition extends JsonObject {
  type: string;
  status: string;
  reason: string;
  message: string;
  lastTransitionTime?: string;
  observedGeneration?: number;
}

/** A StorageVersionMigration. */
export interface Migration extends KubeObject {
  spec?: { resource?: { group?: string; resource?: string } };
  status?: { conditions?: MigrationCondition[]; resourceVersion?: string };
}

/** `plural.group`, or the bare plural for the core group: also the name of a CustomResourceDefinition. */
export function resourceKey({ spec }: Migration): string {
  const { group = "", resource = "" } = spec?.resource ?? {};
  return group === "" ? resource : `${resource}.${group}`;
}

const isTrue = ({ status }: Migration, type: string): boolean =>
  status?.conditions?.some((one) => one.type === type && one.status === "True") ?? false;

/** Whether it is the one migration of its resource that is worked on. */
export const isRunning = (migration: Migration): boolean => isTrue(migration, "Running");
/** Whether it has succeeded. */
export const hasSucceeded = (migration: Migration): boolean => isTrue(migration, "Succeeded");
/** Whether it has succeeded or failed. */
export const isTerminal = (migration: Migration): boolean => hasSucceeded(migration) || isTrue(migration, "Failed");

/** The order in which migrations of a resource run: by age, then by name. */
export function compareMigrations({ metadata: one }: Migration, { metadata: other }: Migration): number {
  const [a, b] = [one, other].map(({ creationTimestamp = "" }) => Date.parse(creationTimestamp)) as [number, number];
  return a - b || ((one.name ?? "") < (other.name ?? "") ? -1 : 1);
}

/** Returns the status with some conditions set. Times change only with the status of a condition. */
export function withConditions(
  { status = {} }: Migration,
  now: string,
  ...changed: readonly MigrationCondition[]
): NonNullable<Migration["status"]> {
  const conditions = [...(status.conditions ?? [])];
  for (const next of changed) {
    const index = conditions.findIndex(({ type }) => type === next.type);
    const before = conditions[index];
    const lastTransitionTime = before?.status === next.status ? before.lastTransitionTime : now;
    const condition = { ...next, lastTransitionTime };
    if (before) conditions[index] = condition;
    else conditions.push(condition);
  }
  return { ...status, conditions };
}

/** How far a migration is. */
export interface Progress {
  readonly left: number;
  readonly total: number;
}

/** The condition Running. `problem`: why it has to be repeated. */
export function running(progress?: Progress, problem?: string): MigrationCondition {
  const { left, total } = progress ?? { left: 0, total: 0 };
  const count = left > 0 ? `, ${left}/${total} objects not yet migrated` : `, ${total} objects verified migrated`;
  const transient = problem === undefined ? "" : `; transient error: ${problem}`;
  const message = `The migration is running${total > 0 ? count : ""}${transient}`;
  return { type: "Running", status: "True", reason: "MigrationRunning", message };
}

/** The condition Failed. */
export function failed(message: string): MigrationCondition {
  return { type: "Failed", status: "True", reason: "StorageVersionMigrationFailed", message };
}

/** The condition Succeeded. */
export const SUCCEEDED: MigrationCondition = {
  type: "Succeeded",
  status: "True",
  reason: "StorageVersionMigrationSucceeded",
  message: "Migration completed",
};
