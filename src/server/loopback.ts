import type { Handler } from "../api/call.ts";
import { API_SERVER, serviceAccountUser } from "../auth/own-users.ts";
import type { Random } from "../lib/random.ts";
import { LoopbackClient } from "../pipeline/loopback-client.ts";
import type { ObjectClient } from "../resources/object-client.ts";
import { release } from "./release.ts";

/** Clients of this server for its own loops. */
export interface LoopbackClients {
  /** What belongs to kube-apiserver itself acts as `system:apiserver`. */
  readonly apiServer: ObjectClient;
  /** Compat: with --use-service-account-credentials each controller acts as `system:serviceaccount:kube-system:…`. */
  controller(serviceAccount: string): ObjectClient;
}

/** Makes clients that ask `handler`, which is composed with `keepUser`. */
export function loopbackClients(handler: Handler, random: Random): LoopbackClients {
  const { gitVersion, gitCommit, platform } = release.info;
  const agent = (program: string) => `${program}/${gitVersion} (${platform}) kubernetes/${gitCommit.slice(0, 7)}`;
  return {
    apiServer: new LoopbackClient(handler, { user: API_SERVER, userAgent: agent("kube-apiserver") }, random),
    controller(serviceAccount) {
      const user = serviceAccountUser("kube-system", serviceAccount);
      const userAgent = `${agent("kube-controller-manager")}/${user.name}`;
      return new LoopbackClient(handler, { user, userAgent }, random);
    },
  };
}
