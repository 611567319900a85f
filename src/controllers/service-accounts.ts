import type { Resources } from "../resources/resources.ts";
import type { Controller, ReportProblem } from "./controller.ts";
import { keepInNamespaces } from "./namespace-fixture.ts";

const NAME = "serviceaccount-controller";

/** Sees to it that every active namespace has the service account that pods use when they name none. */
export function serviceAccounts(resources: Resources, report: ReportProblem): Controller {
  const fixture = {
    controller: NAME,
    plural: "serviceaccounts",
    objectName: "default",
    make: () => ({ kind: "ServiceAccount", apiVersion: "v1", metadata: { name: "default" } }),
    isRight: () => true,
    repair: () => undefined,
  };
  return {
    name: NAME,
    aliases: ["serviceaccount"],
    run: (signal) => keepInNamespaces(resources, fixture, report, signal),
  };
}
