import type { Resources } from "../resources/resources.ts";
import type { Controller, ReportProblem } from "./controller.ts";
import { keepInNamespaces } from "./namespace-fixture.ts";

const NAME = "serviceaccount-controller";

/** serviceaccount-controller: keeps the ServiceAccount default in every active Namespace. */
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
