import type { User } from "binnacle";

/** The group of the people who work in the warehouse. */
export const CLERKS = "shop:clerks";

/** The user that a customer acts as. The prefix keeps customers apart from other users of the control plane. */
export const customerUser = (customer: string): User => ({ name: `customer:${customer}` });

/** The namespace of a customer's orders. */
export const namespaceOf = (customer: string): string => `customer-${customer}`;

/** What customers and clerks may do. Customers get the role in their own namespace: see `welcome`. */
export const PERMISSIONS = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: shop-customer }
rules:
  - { apiGroups: [shop.example], resources: [orders], verbs: [create, get, list, delete] }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: shop-clerk }
rules:
  - { apiGroups: [shop.example], resources: [orders, parcels], verbs: [get, list] }
  - { apiGroups: [shop.example], resources: [parcels/status], verbs: [patch] }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: { name: shop-clerks }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: shop-clerk }
subjects:
  - { apiGroup: rbac.authorization.k8s.io, kind: Group, name: ${CLERKS} }
`;
