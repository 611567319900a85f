import type { KindReference, ReconcileFunction, Server, User } from "binnacle";
import { type Customer, Customers, type Order, Orders, Parcels } from "./kinds.ts";
import { customerUser, namespaceOf } from "./users.ts";

const RBAC = "rbac.authorization.k8s.io";
const Namespaces: KindReference = { apiVersion: "v1", kind: "Namespace", plural: "namespaces", scope: "Cluster" };
const RoleBindings: KindReference = { apiVersion: `${RBAC}/v1`, kind: "RoleBinding", plural: "rolebindings" };

/** Gives a customer a namespace, and in it the permission to order. The namespace goes with the customer, who owns it. */
export function welcome(server: Server): ReconcileFunction<Customer> {
  return async ({ metadata: { name }, status }, { client, owner }) => {
    const user = customerUser(name);
    const namespace = namespaceOf(name);
    await client(Namespaces).apply({ metadata: { name: namespace, ownerReferences: [owner] } });
    await client(RoleBindings, { namespace }).apply({
      metadata: { name: "customer" },
      roleRef: { apiGroup: RBAC, kind: "ClusterRole", name: "shop-customer" },
      subjects: [{ apiGroup: RBAC, kind: "User", name: user.name }],
    });
    // A RoleBinding takes effect a moment after it is written.
    const isReady = await mayOrder(server, user, namespace);
    if (isReady && !status?.isReady) await client(Customers).status.patch(name, { isReady });
    return isReady ? {} : { requeueAfterMs: 10 };
  };
}

function mayOrder(server: Server, user: User, namespace: string): Promise<boolean> {
  const listed = server.client(Orders, { user, namespace }).list({ limit: 1 });
  return listed.then(
    () => true,
    () => false,
  );
}

/** Packs a parcel for an order. The order is shipped when the parcel is sent. */
export const fulfil: ReconcileFunction<Order> = async ({ metadata: { name }, spec, status }, { client, owner }) => {
  const { items } = spec;
  const parcel = await client(Parcels).apply({ metadata: { name, ownerReferences: [owner] }, spec: { items } });
  const phase = parcel.status?.isSent ? "Shipped" : "Packing";
  if (status?.phase !== phase) await client(Orders).status.patch(name, { phase });
};
