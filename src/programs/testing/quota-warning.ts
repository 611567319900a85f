import type { RequestInfo } from "../../base/api/request-info.ts";
import { RUNNABLE_CONTROLLERS } from "../../cluster/controllers/manager/all.ts";
import { selectControllers } from "../../cluster/controllers/shared/controller.ts";

const CONTROLLER = "resourcequota-controller";
const WRITES = ["create", "update", "patch"];
const TEXT = `ResourceQuotas are not enforced: the option "controllers" excludes ${CONTROLLER}`;

/** Returns a function that warns about the first write of a ResourceQuota if nothing counts its usage. */
export function quotaWarning(controllers: string): (request: RequestInfo) => void {
  let isPending = !selectControllers(RUNNABLE_CONTROLLERS, controllers).some(({ name }) => name === CONTROLLER);
  return ({ group, resource, verb }) => {
    if (!isPending || resource !== "resourcequotas" || group !== "" || !WRITES.includes(verb)) return;
    isPending = false;
    process.emitWarning(TEXT, { type: "BinnacleWarning", code: "BINNACLE_QUOTAS" });
  };
}
