import type { Column } from "../../../base/api/columns.ts";
import { ageOf } from "../../../base/api/human-duration.ts";
import type { KubeObject } from "../../../base/api/object.ts";
import {
  column,
  findCondition,
  integer,
  isConditionTrue,
  NAME,
  read,
  readNumber,
  readObjects,
  text,
} from "../cells.ts";

const pools = (request: KubeObject) => readObjects(request, ".status.pools");
const hasFailed = (request: KubeObject): boolean =>
  isConditionTrue(request, "Failed") && !isConditionTrue(request, "Complete");
const hasCounts = (request: KubeObject): boolean => read(request, ".status") !== undefined && !hasFailed(request);

/** The sum over all pools; "-" until they are counted. */
function total(name: string, member: string): Column {
  return column(name, "string", (request) => {
    if (!hasCounts(request)) return "-";
    return String(pools(request).reduce((sum, pool) => sum + readNumber(pool, member), 0));
  });
}

function printErrors(request: KubeObject): string {
  if (!hasCounts(request)) return "-";
  return String(pools(request).filter((pool) => read(pool, ".validationError") !== undefined).length);
}

function printStatus(request: KubeObject): string {
  if (isConditionTrue(request, "Complete")) {
    const known = pools(request).length;
    const all = readNumber(request, ".status.poolCount");
    return all > known ? `Complete (${known}/${all} pools)` : "Complete";
  }
  return hasFailed(request) ? "Failed" : "Pending";
}

function printCompleted(request: KubeObject, now: number): string {
  if (!isConditionTrue(request, "Complete")) return "<none>";
  return ageOf(findCondition(request, "Complete")?.lastTransitionTime, now);
}

/** The table columns of ResourcePoolStatusRequest. */
export const poolStatusColumns: readonly Column[] = [
  NAME,
  column("Driver", "string", text(".spec.driver")),
  total("Total", ".totalDevices"),
  total("Available", ".availableDevices"),
  total("Allocated", ".allocatedDevices"),
  total("Unavailable", ".unavailableDevices"),
  column("Errors", "string", printErrors),
  column("Pools", "integer", integer(".status.poolCount")),
  column("Status", "string", printStatus),
  column("Completed", "string", printCompleted),
];
