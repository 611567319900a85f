import type { Controller, ControllerContext } from "../shared/controller.ts";
import { keepInNamespaces } from "./namespace/namespace-fixture.ts";

const NAME = "serviceaccount-controller";

/** serviceaccount-controller: keeps the ServiceAccount default in every active Namespace. */
export function serviceAccounts(context: ControllerContext): Controller {
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
    run: (signal) => keepInNamespaces(context, fixture, signal),
  };
}
