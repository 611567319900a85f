import {
  API_SERVER,
  CONTROLLER_MANAGER,
  nodeUser,
  SCHEDULER,
  serviceAccountUser,
} from "../../access/authentication/own-users.ts";
import type { Handler } from "../../base/api/call.ts";
import type { UserInfo } from "../../base/api/user-info.ts";
import type { Random } from "../../base/util/random.ts";
import type { ObjectClient } from "../../resources/object-client.ts";
import { release } from "../endpoints/release.ts";
import type { IsLargeCall } from "./in-process.ts";
import { LoopbackClient } from "./loopback-client.ts";

/** Clients of this server for its own controllers. */
export interface LoopbackClients {
  /** Acts as `system:apiserver`, for controllers that kube-apiserver itself runs. */
  readonly apiServer: ObjectClient;
  /** Acts as `system:kube-controller-manager`, for the components that have no service account. */
  controllerManager(component: string): ObjectClient;
  /** Compat: with --use-service-account-credentials each controller acts as `system:serviceaccount:kube-system:…`. */
  controller(serviceAccount: string): ObjectClient;
  /** Acts as `system:kube-scheduler`. */
  scheduler(component: string): ObjectClient;
  /** Acts as `system:node:…`, for a simulated node. */
  node(name: string): ObjectClient;
}

/**
 * Creates clients that call `handler`, which must be composed with `keepUser`. If it offloads calls, `isLarge` tells which.
 */
export function loopbackClients(handler: Handler, random: Random, isLarge?: IsLargeCall): LoopbackClients {
  const { gitVersion, gitCommit, platform } = release.info;
  const agent = (program: string) => `${program}/${gitVersion} (${platform}) kubernetes/${gitCommit.slice(0, 7)}`;
  const clientOf = (user: UserInfo, userAgent: string, isRemote = true) =>
    new LoopbackClient(handler, { user, userAgent, isRemote }, random, isLarge);
  return {
    apiServer: clientOf(API_SERVER, agent("kube-apiserver"), false),
    controllerManager: (component) => clientOf(CONTROLLER_MANAGER, `${agent("kube-controller-manager")}/${component}`),
    controller(serviceAccount) {
      const user = serviceAccountUser("kube-system", serviceAccount);
      return clientOf(user, `${agent("kube-controller-manager")}/${user.name}`);
    },
    scheduler: (component) => clientOf(SCHEDULER, `${agent("kube-scheduler")}/${component}`),
    node: (name) => clientOf(nodeUser(name), agent("kubelet")),
  };
}
