import { AsyncLocalStorage } from "node:async_hooks";
import { CONTROLLER_MANAGER, SCHEDULER, serviceAccountUser } from "../../../access/authentication/own-users.ts";
import { bootstrapPolicy } from "../../../access/authorization/bootstrap-policy.ts";
import { forbiddenBy } from "../../../access/authorization/forbidden.ts";
import { rolesInMemory } from "../../../access/authorization/rbac.suite.ts";
import { RbacAuthorizer } from "../../../access/authorization/rbac.ts";
import { requestAttributes } from "../../../base/api/attributes.ts";
import type { Call } from "../../../base/api/call.ts";
import type { KubeObject } from "../../../base/api/object.ts";
import type { UserInfo } from "../../../base/api/user-info.ts";
import type { Binding, PolicyRule } from "../../../kinds/types/rbac.ts";
import { RUNNABLE_CONTROLLERS } from "../manager/all.ts";
import type { Controller } from "./controller.ts";
import { type IndexedInformer, Informers } from "./informers.ts";

/** The name of the controller that runs the current code. Undefined in the test itself. */
const current = new AsyncLocalStorage<string>();

const { clusterroles, clusterrolebindings, roles, rolebindings } = bootstrapPolicy;
interface BootstrapRole {
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly rules?: readonly unknown[] | null;
}

const rulesByName = (all: readonly BootstrapRole[]) =>
  Object.fromEntries(
    all.map(({ metadata: { namespace, name }, rules }) => [
      namespace === undefined ? name : `${namespace}/${name}`,
      (rules ?? []) as PolicyRule[],
    ]),
  );

const bootstrap = new RbacAuthorizer(
  rolesInMemory({
    clusterRoles: rulesByName(clusterroles),
    roles: rulesByName(roles),
    bindings: [...clusterrolebindings, ...rolebindings] as unknown as Binding[],
  }),
);

/** Runs a controller so that `checkPermission` recognizes its requests. */
export function attributed(controller: Controller): Controller {
  const { name } = controller;
  return { name, run: (signal) => current.run(name, () => controller.run(signal)) };
}

/**
 * Throws Forbidden if the bootstrap roles do not allow a request of the controller that runs the current code. Requests of
 * the test itself and of controllers of kube-apiserver are always allowed.
 */
export function checkPermission({ info, request }: Call): void {
  const user = userOf(current.getStore());
  if (user === undefined) return;
  const attributes = requestAttributes(user, info, request.query);
  if (bootstrap.decide(attributes).decision !== "allow") throw forbiddenBy(attributes);
}

/** The user of a controller of kube-controller-manager, or of the scheduler. */
function userOf(name: string | undefined): UserInfo | undefined {
  if (name === "kube-scheduler") return SCHEDULER;
  const controller = RUNNABLE_CONTROLLERS.find((one) => one.name === name);
  if (controller === undefined) return undefined;
  const { account } = controller;
  return account === undefined ? CONTROLLER_MANAGER : serviceAccountUser("kube-system", account);
}

/** Informers whose observers run as the controller that added them, not as the one that started the informer. */
export class AttributedInformers extends Informers {
  readonly #attributed = new WeakSet<object>();

  override of<T extends KubeObject>(group: string, plural: string): IndexedInformer<T> {
    const known = super.of<T>(group, plural);
    const { informer } = known;
    if (!this.#attributed.has(informer)) {
      this.#attributed.add(informer);
      const observe = informer.observe.bind(informer);
      informer.observe = (observer) => observe(AsyncLocalStorage.bind(observer));
    }
    return known;
  }
}
